import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentSpec, ToolOverride } from '@/protocol'
import { freeName, isName } from '../form/names'
import {
  APPROVALS,
  MISSING_SANDBOX,
  blankAgent,
  blankOverride,
  copyOf,
  problems,
  RISKS,
  specOf,
  THINK_LEVELS,
  toForm,
  toSpec,
} from './form'

const full: AgentSpec = {
  ...blankAgent(),
  name: 'coder',
  label: '程序员',
  systemPrompt: ' Keep the space. ',
  modelConfig: {
    channelId: 'c1',
    model: 'gpt-5',
    temperature: 0.5,
    maxTokens: 4000,
    thinkLevel: 'high',
    fallback: { channelId: 'c2', model: null },
  },
  tools: { enabled: ['web_fetch', 'mcp_*'], disabled: ['bash'] },
  toolOverrides: {
    bash: { description: null, risk: null, timeoutMs: 1500, approval: 'always', arguments: { cwd: '/srv' } },
  },
  skills: ['pdf'],
  workspace: '/srv/work',
  extraRoots: ['/data', '~/notes'],
  allowedHosts: ['example.com', '*.example.org'],
  sandbox: { missing: 'warn', network: true },
  isDefault: true,
}

describe('form and spec', () => {
  test('what is shown goes there and back', () => {
    const form = toForm(full)
    expect(form).toMatchObject({
      channelId: 'c1',
      fallbackChannelId: 'c2',
      fallbackModel: '',
      tools: { web_fetch: 'on', 'mcp_*': 'on', bash: 'off' },
      extraRoots: '/data\n~/notes',
      allowedHosts: 'example.com\n*.example.org',
    })
    expect(form.overrides['bash']).toMatchObject({
      timeoutSeconds: 1.5,
      approval: 'always',
      arguments: '{\n  "cwd": "/srv"\n}',
    })
    expect(toSpec(form, full)).toEqual(full)
  })

  test('fields that are not shown are left alone', () => {
    const crew = { ...full, isCrewMaster: true, subagentConfig: { allowedToolNames: ['read'] } }
    expect(toSpec({ ...toForm(crew), label: 'x' }, crew)).toEqual({ ...crew, label: 'x' })
  })

  test('names that are typed twice or with spaces are one', () => {
    expect(toSpec({ ...toForm(full), skills: ['pdf', ' pdf', ''], mcpServers: ['tracker '] }, full)).toMatchObject({
      skills: ['pdf'],
      mcpServers: ['tracker'],
    })
  })

  test('an emptied field is no field', () => {
    const form = {
      ...toForm(full),
      workspace: ' ',
      channelId: '',
      fallbackChannelId: '',
      extraRoots: '\n',
      overrides: { bash: blankOverride() },
    }
    expect(toSpec(form, full)).toMatchObject({
      workspace: null,
      extraRoots: [],
      modelConfig: { channelId: null, model: null, fallback: null },
      toolOverrides: {},
    })
  })

  test('a tool that is switched twice is where it was', () => {
    const form = toForm(full)
    form.tools['bash'] = 'on'
    expect(toSpec(form, full).tools).toEqual({ enabled: ['web_fetch', 'mcp_*', 'bash'], disabled: [] })
    form.tools['bash'] = 'off'
    expect(toSpec(form, full).tools).toEqual(full.tools)
  })

  test('a copy is not the default one', () => {
    expect(copyOf(full, 'coder-2')).toEqual({ ...full, name: 'coder-2', isDefault: false })
  })

  test('a kept agent is a spec with a stamp', () => {
    expect(specOf({ ...full, id: 'a', rev: 3, createdAt: 1, updatedAt: 2 })).toEqual(full)
  })
})

const text = fc.string({ maxLength: 12 }).map((value) => value.trim())
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/)
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })

const override: fc.Arbitrary<ToolOverride> = fc.record({
  description: orNull(word),
  risk: orNull(fc.constantFrom(...RISKS)),
  timeoutMs: orNull(fc.integer({ min: 1, max: 86_400_000 })),
  approval: orNull(fc.constantFrom(...APPROVALS)),
  arguments: fc.dictionary(word, fc.jsonValue() as fc.Arbitrary<never>, { maxKeys: 2, noNullPrototype: true }),
})

const spec: fc.Arbitrary<AgentSpec> = fc
  .record({
    name: text,
    label: text,
    description: text,
    systemPrompt: fc.string(),
    channelId: orNull(word),
    model: orNull(word),
    temperature: orNull(fc.double({ min: 0, max: 2, noNaN: true })),
    maxTokens: orNull(fc.integer({ min: 1 })),
    thinkLevel: fc.constantFrom(...THINK_LEVELS),
    fallback: orNull(fc.record({ channelId: word, model: orNull(word) })),
    tools: fc.uniqueArray(word, { maxLength: 6 }),
    split: fc.nat(6),
    toolOverrides: fc.dictionary(word, override, { maxKeys: 3, noNullPrototype: true }),
    workspace: orNull(word),
    extraRoots: fc.array(word, { maxLength: 3 }),
    allowedHosts: fc.uniqueArray(word, { maxLength: 3 }),
    sandbox: fc.record({ missing: fc.constantFrom(...MISSING_SANDBOX), network: fc.boolean() }),
    auxiliaryModelChannelId: orNull(word),
    auxiliaryModelId: orNull(word),
    compactionThreshold: fc.integer({ min: 0, max: 100 }),
  })
  .map(({ channelId, model, temperature, maxTokens, thinkLevel, fallback, tools, split, ...rest }) => ({
    ...blankAgent(),
    ...rest,
    modelConfig: { channelId, model: channelId === null ? null : model, temperature, maxTokens, thinkLevel, fallback },
    auxiliaryModelId: rest.auxiliaryModelChannelId === null ? null : rest.auxiliaryModelId,
    tools: { enabled: tools.slice(0, split), disabled: tools.slice(split) },
  }))

test('no agent is changed by being looked at', () => {
  // By way of JSON: there is no -0 on the wire.
  const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  fc.assert(
    fc.property(spec, (agent) => {
      expect(wire(toSpec(toForm(agent), agent))).toEqual(wire(agent))
    }),
  )
})

describe('what is wrong', () => {
  const check = (change: Partial<ReturnType<typeof toForm>>) => problems({ ...toForm(full), ...change })
  test('is reported by field', () => {
    expect(check({})).toEqual({})
    expect(check({ name: ' ' })).toEqual({ name: 'nameNeeded' })
    expect(check({ name: 'a/b' })).toEqual({ name: 'nameForm' })
    expect(check({ workspace: 'work', extraRoots: '/a\nb' })).toEqual({
      workspace: 'notAbsolute',
      extraRoots: 'notAbsolute',
    })
    expect(check({ workspace: 'C:\\work' })).toEqual({})
    expect(check({ allowedHosts: 'a.example\n*.b.example:8443\nhttp://c.example\n[2001:db8::1]:81\n' })).toEqual({})
    for (const wrong of ['a.example/x', 'ftp://a.example', 'u@a.example', 'a b', '*', 'a.*.example'])
      expect(check({ allowedHosts: `a.example\n${wrong}` }), wrong).toEqual({ allowedHosts: 'notHosts' })
    expect(check({ overrides: { bash: { ...blankOverride(), arguments: '[1]' } } })).toEqual({
      'toolOverrides.bash.arguments': 'notJson',
    })
  })
})

describe('names', () => {
  test('are what the server takes', () => {
    for (const good of ['a', 'default', 'gpt-5.1', 'My Agent', '通用', 'a_b', '通'.repeat(64)])
      expect(isName(good), good).toBe(true)
    for (const bad of ['', ' a', 'a ', '-a', 'a/b', 'a\n', 'a\u202eb', 'a.', '通'.repeat(65)])
      expect(isName(bad), bad).toBe(false)
  })
  test('that are taken get a number', () => {
    expect(freeName('a', [])).toBe('a')
    expect(freeName('a', ['A', 'a-2'])).toBe('a-3')
  })
})
