// @vitest-environment jsdom
import { flushPromises, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChoiceView, ConnectionView, SessionRow, TokenView } from '@/view/types'
import ControlPicker from '../control/ControlPicker.vue'
import { bytes, cost, duration, moment, tokens } from '../format'
import ControlMenu from '../control/ControlMenu.vue'
import ListSession from '../list/ListSession.vue'
import { show, testI18n } from '../testing'
import IndicatorConnection from './IndicatorConnection.vue'
import IndicatorJump from './IndicatorJump.vue'
import DialogKeys from '../dialog/DialogKeys.vue'
import IndicatorTokens from './IndicatorTokens.vue'

beforeAll(() => {
  // jsdom has no modal dialogs.
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true
  }
  HTMLDialogElement.prototype.close = function () {
    this.open = false
  }
})

let view: VueWrapper | null = null
afterEach(() => {
  view?.unmount()
  view = null
  vi.useRealTimers()
})

describe('the connection', () => {
  const connection = (changes: Partial<ConnectionView>): ConnectionView => ({
    state: 'connected',
    retryAt: null,
    attempt: 0,
    unsent: 0,
    ...changes,
  })

  test('is silent while all is well, but the region is there', () => {
    view = show(IndicatorConnection, { connection: connection({}) })
    expect(view.get('[role=status]').text()).toBe('')
  })

  test('counts down and can be tried at once', async () => {
    vi.useFakeTimers({ now: 1_000_000 })
    view = show(IndicatorConnection, { connection: connection({ state: 'waiting', retryAt: 1_004_500, unsent: 2 }) })
    expect(view.text()).toContain('Retrying in 5 s')
    expect(view.text()).toContain('2 unsent messages')
    await vi.advanceTimersByTimeAsync(2000)
    expect(view.text()).toContain('Retrying in 3 s')
    await view.get('button').trigger('click')
    expect(view.emitted('retry')).toHaveLength(1)
  })
})

describe('tokens', () => {
  const meter: TokenView = {
    used: 64_000,
    max: 200_000,
    percent: 32,
    estimated: true,
    threshold: 80,
    level: 'calm',
    windowSource: 'guess',
    session: { inputTokens: 1, outputTokens: 1, totalTokens: 420_000, calls: 31, cost: 1.5 },
    branch: { inputTokens: 1, outputTokens: 1, totalTokens: 98_000, calls: 9, cost: null },
    lastAnswer: null,
    summaries: { inputTokens: 1, outputTokens: 1, totalTokens: 7_700, calls: 2, cost: null },
  }

  test('are one line, with the numbers and a way to compact behind it', async () => {
    view = show(IndicatorTokens, { tokens: meter, canCompact: true })
    expect(view.text()).toBe('≈ 64k/200k · 32%')
    expect(view.get('[role=meter]').attributes('aria-valuenow')).toBe('32')
    expect(view.get('.tick').attributes('style')).toContain('left: 80%')
    await view.get('.meter').trigger('click')
    await flushPromises()
    const spent = view.findAll('[data-spent]').map((row) => [row.attributes('data-spent'), row.text()])
    expect(spent).toEqual([
      ['branch', 'Current branch× 998,000'],
      ['session', 'Entire session× 31420,000$1.50'],
      ['summaries', 'Summaries× 27,700'],
    ])
    await view.get('[role=dialog] button').trigger('click')
    expect(view.emitted('compact')).toHaveLength(1)
    expect(view.find('[role=dialog]').exists()).toBe(false)
  })

  test('open while the pointer rests there, and tell what fills the context', async () => {
    vi.useFakeTimers()
    const breakdown = [
      { part: 'messages', tokens: 48_000, percent: 24 },
      { part: 'free', tokens: 152_000, percent: 76 },
    ]
    view = show(IndicatorTokens, { tokens: meter, canCompact: true, breakdown })
    await view.trigger('pointerenter', { pointerType: 'mouse' })
    await vi.advanceTimersByTimeAsync(100)
    expect(view.emitted('look')).toBeUndefined()
    await vi.advanceTimersByTimeAsync(200)
    expect(view.emitted('look')).toEqual([[true]])
    expect(view.get('.parts').text()).toBe('Messages48k · 24%Free152k · 76%')
    await view.trigger('pointerleave', { pointerType: 'mouse' })
    await vi.advanceTimersByTimeAsync(300)
    expect(view.emitted('look')).toEqual([[true], [false]])
    // Who has pressed it wants to keep it.
    await view.get('.meter').trigger('click')
    await view.trigger('pointerleave', { pointerType: 'mouse' })
    await vi.advanceTimersByTimeAsync(300)
    expect(view.find('[role=dialog]').exists()).toBe(true)
  })

  test('a finger opens them by a press alone', async () => {
    vi.useFakeTimers()
    view = show(IndicatorTokens, { tokens: meter, canCompact: true })
    await view.trigger('pointerenter', { pointerType: 'touch' })
    await vi.advanceTimersByTimeAsync(1000)
    expect(view.find('[role=dialog]').exists()).toBe(false)
  })
})

describe('a session in the list', () => {
  const session = (changes: Partial<SessionRow> = {}): SessionRow => ({
    id: 's1',
    title: 'Old name',
    preview: '',
    agentName: 'default',
    updatedAt: 0,
    running: false,
    asking: false,
    unread: false,
    archived: false,
    current: false,
    forked: false,
    ...changes,
  })

  test('is renamed in its place', async () => {
    view = show(ListSession, { session: session(), href: '/s1' })
    await view.get('a').trigger('keydown', { key: 'F2' })
    await view.get('input').setValue('New name')
    await view.get('input').trigger('keydown', { key: 'Enter', isComposing: true })
    expect(view.emitted('rename')).toBeUndefined()
    await view.get('input').trigger('keydown', { key: 'Enter' })
    expect(view.emitted('rename')).toEqual([['s1', 'New name']])
  })

  test('keeps its name on Escape', async () => {
    view = show(ListSession, { session: session(), href: '/s1' })
    await view.get('a').trigger('keydown', { key: 'F2' })
    await view.get('input').setValue('New name')
    await view.get('input').trigger('keydown', { key: 'Escape' })
    expect(view.emitted('rename')).toBeUndefined()
  })

  test('opens by a click, and in a tab of its own with a modifier', async () => {
    view = show(ListSession, { session: session(), href: '#s1' })
    await view.get('a').trigger('click', { ctrlKey: true })
    expect(view.emitted('open')).toBeUndefined()
    await view.get('a').trigger('click')
    expect(view.emitted('open')).toEqual([['s1']])
  })

  test('is deleted for a while, or at once', async () => {
    view = show(ListSession, { session: session(), href: '' })
    const menu = view.getComponent(ControlMenu)
    menu.vm.$emit('select', 'remove')
    menu.vm.$emit('select', 'erase')
    expect(view.emitted('remove')).toEqual([['s1']])
    expect(view.emitted('erase')).toEqual([['s1']])
  })

  test('says how it stands', async () => {
    view = show(ListSession, { session: session({ running: true, asking: true }), href: '' })
    expect(view.get('.marks').text()).toBe('Waiting for you')
    await view.setProps({ session: session({ running: true }) })
    expect(view.get('.marks').text()).toBe('Running')
    await view.setProps({ session: session({ unread: true, current: true }) })
    expect(view.get('.marks').text()).toBe('Unread')
    expect(view.get('a').attributes('aria-current')).toBe('page')
  })
})

test('a picker is walked by keys and skips what cannot be chosen', async () => {
  const choice = (id: string, disabled = false): ChoiceView => ({
    id,
    label: `Model ${id}`,
    hint: '',
    group: '',
    disabled,
  })
  view = show(ControlPicker, { label: 'Model', choices: [choice('a'), choice('b', true), choice('c')], chosen: 'a' })
  expect(view.get('button').attributes('aria-label')).toBe('Model: Model a')
  await view.get('button').trigger('click')
  await flushPromises()
  const list = view.get('[role=listbox]')
  await list.trigger('keydown', { key: 'ArrowDown' })
  await list.trigger('keydown', { key: 'Enter' })
  expect(view.emitted('choose')).toBeUndefined()
  await list.trigger('keydown', { key: 'ArrowDown' })
  await list.trigger('keydown', { key: 'Enter' })
  expect(view.emitted('choose')).toEqual([['c']])
  expect(document.activeElement).toBe(view.get('button').element)
})

test('the way back to the end counts what has come', () => {
  view = show(IndicatorJump, { unread: 130 })
  expect(view.attributes('aria-label')).toBe('Jump to latest, 99+ new messages')
})

test('all keys are in the help', async () => {
  view = show(DialogKeys, {})
  expect(view.text()).toContain('Queue for later')
  await view.get('dialog').trigger('cancel')
  expect(view.emitted('close')).toHaveLength(1)
})

describe('numbers in words', () => {
  const { t } = testI18n().global
  test.each([
    [duration(850, t), '850 ms'],
    [duration(12_400, t), '12 s'],
    [duration(125_000, t), '2 min 5 s'],
    [duration(3_780_000, t), '1 h 3 min'],
    [tokens(950), '950'],
    [tokens(12_040), '12k'],
    [tokens(18_900), '18.9k'],
    [tokens(152_300), '152k'],
    [tokens(999_700), '1M'],
    [tokens(1_240_000), '1.2M'],
    [cost(0), '$0'],
    [cost(0.0042), '$0.0042'],
    [cost(0.0342), '$0.034'],
    [cost(12.345), '$12.35'],
    [bytes(900), '900 B'],
    [bytes(2_345_678), '2.2 MB'],
    [moment(new Date(2026, 0, 5, 9, 7).getTime(), new Date(2026, 0, 5, 20).getTime(), 'en'), '09:07 AM'],
    [moment(new Date(2026, 0, 4).getTime(), new Date(2026, 0, 5).getTime(), 'zh'), '1月4日'],
    [moment(new Date(2025, 0, 4).getTime(), new Date(2026, 0, 5).getTime(), 'en'), 'Jan 4, 2025'],
  ])('%s', (shown, expected) => expect(shown).toBe(expected))
})
