import { expect, test } from 'vitest'
import type { ChannelModels, ModelInfo, SupplierOption } from '@/protocol'
import { channelFor, isDemoOnly, offeredModels, offeredSuppliers } from './setup'

const info = (name: string): ModelInfo => ({
  name,
  contextWindow: 1,
  maxOutput: 1,
  vision: false,
  tools: true,
  thinking: false,
  chat: true,
  source: 'catalogue',
})
const supplier = (id: SupplierOption['id'], models: string[] = []): SupplierOption => ({
  id,
  label: id,
  needsKey: true,
  models: models.map(info),
})
const channel = (of: ChannelModels['supplier']): ChannelModels => ({
  channelId: of,
  channelName: of,
  supplier: of,
  isAuxiliary: false,
  models: [],
})

test('real suppliers are offered, the usual ones first', () => {
  const all = (['compatible', 'demo', 'openai', 'ollama', 'anthropic'] as const).map((id) => supplier(id))
  expect(offeredSuppliers(all).map(({ id }) => id)).toEqual(['anthropic', 'openai', 'ollama', 'compatible'])
})

test('only the demo channel exists', () => {
  expect(isDemoOnly([channel('demo')])).toBe(true)
  expect(isDemoOnly([channel('demo'), channel('openai')])).toBe(false)
  // Nothing is known yet.
  expect(isDemoOnly([])).toBe(false)
})

test('known models that the supplier has come first, and models that do not chat are left out', () => {
  const openai = supplier('openai', ['gpt-5', 'gpt-old'])
  const found = [
    { ...info('text-embedding-3-small'), chat: false, source: 'guess' as const },
    { ...info('other'), source: 'guess' as const },
    info('gpt-5'),
  ]
  expect(offeredModels(openai, found)).toEqual(['gpt-5', 'other'])
  expect(offeredModels(openai, [])).toEqual(['gpt-5', 'gpt-old'])
})

test('on a relay, models that are known and use tools come first', () => {
  const mixed: SupplierOption = { ...supplier('openai'), models: [{ ...info('talks'), tools: false }, info('works')] }
  expect(offeredModels(mixed, [])).toEqual(['works', 'talks'])
  const found = [{ ...info('x'), source: 'guess' as const }, { ...info('talks'), tools: false }, info('works')]
  expect(offeredModels(supplier('compatible'), found)).toEqual(['works', 'talks', 'x'])
})

test('the channel has the chosen model first, known ones behind it, and a free name', () => {
  const openai = supplier('openai', ['gpt-5', 'gpt-5-mini'])
  expect(
    channelFor(openai, { baseUrl: ' ', key: ' sk-1 ' }, 'gpt-5-mini', ['gpt-5', 'gpt-5-mini', 'embedding'], ['openai']),
  ).toEqual({
    name: 'openai-2',
    supplier: 'openai',
    baseUrl: null,
    models: [{ name: 'gpt-5-mini' }, { name: 'gpt-5' }],
    isAuxiliary: false,
    status: 'enabled',
    apiKey: 'sk-1',
  })
  const local = channelFor(
    supplier('compatible'),
    { baseUrl: 'http://localhost:8000/v1', key: '' },
    'b',
    ['a', 'b'],
    [],
  )
  expect(local).toMatchObject({ baseUrl: 'http://localhost:8000/v1', models: [{ name: 'b' }, { name: 'a' }] })
  expect('apiKey' in local).toBe(false)
})
