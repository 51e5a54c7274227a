import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, test } from 'vitest'
import type { ChannelView } from '@/protocol'
import { show } from '@/ui/testing'
import FormSelect from './FormSelect.vue'
import ModelChoice from './ModelChoice.vue'

beforeEach(() => {
  setActivePinia(createPinia())
})

const channel = (id: string, isAuxiliary: boolean, status: 'enabled' | 'disabled'): ChannelView =>
  ({ id, name: id, isAuxiliary, status, models: [] }) as unknown as ChannelView

const CHANNELS = [
  channel('main', false, 'enabled'),
  channel('small', true, 'enabled'),
  channel('off', true, 'disabled'),
]

function offered(channelId: string, changes: Record<string, unknown>) {
  const choice = show(ModelChoice, {
    channelId,
    model: '',
    channels: CHANNELS,
    channelLabel: 'Channel',
    modelLabel: 'Model',
    none: 'None',
    ...changes,
  })
  const { options } = choice.findComponent(FormSelect).props() as {
    options: readonly { value: string; note?: string }[]
  }
  choice.unmount()
  return options.map(({ value, note }) => (note ? `${value} (${note})` : value))
}

test('only enabled auxiliary channels are offered, and another one that was chosen stays and is marked', () => {
  expect(offered('', { onlyAuxiliary: true })).toEqual(['', 'small'])
  expect(offered('main', { onlyAuxiliary: true })).toEqual(['', 'small', 'main (not an auxiliary channel)'])
  expect(offered('off', { onlyAuxiliary: true })).toEqual(['', 'small', 'off (disabled)'])
})

test('elsewhere every channel is offered', () => {
  expect(offered('', {})).toEqual(['', 'main', 'small (auxiliary)', 'off (disabled)'])
})
