import { expect, test } from 'vitest'
import type { ChannelModels, ModelInfo } from '@/protocol'
import { chatChannels, modelInUse } from './models'
import type { ComposerAttachment } from './types'
import { unseenImages } from './unseen'

const info = (name: string, changes: Partial<ModelInfo> = {}): ModelInfo => ({
  name,
  contextWindow: 1,
  maxOutput: 1,
  vision: false,
  tools: true,
  thinking: false,
  chat: true,
  source: 'catalogue',
  ...changes,
})
const channel = (name: string, supplier: ChannelModels['supplier'], ...models: ModelInfo[]): ChannelModels => ({
  channelId: `id-${name}`,
  channelName: name,
  supplier,
  isAuxiliary: false,
  models,
})
const CHANNELS = [
  channel('demo', 'demo', info('demo', { vision: true })),
  channel('other', 'openai', info('gpt-4o', { vision: true }), info('whisper-1', { chat: false })),
  channel(
    'relay',
    'compatible',
    info('blind'),
    info('sees', { vision: true }),
    info('mystery', { source: 'guess' }),
    info('set', { source: 'channel' }),
  ),
]
const image: ComposerAttachment = {
  key: 'i',
  name: 'a.png',
  mimeType: 'image/png',
  bytes: 1,
  kind: 'image',
  preview: null,
  state: 'ready',
  progress: 1,
  problem: null,
  canRetry: false,
}
const unseen = (model: string, files = [image]) =>
  unseenImages(files, modelInUse(CHANNELS, { channelId: 'relay', model }), CHANNELS)

test('a model without vision is named, with those that see: first of its own channel, never the demo', () => {
  expect(unseen('blind')).toEqual({
    model: 'blind',
    why: 'noVision',
    keys: ['i'],
    others: [
      { channelId: 'id-relay', model: 'sees' },
      { channelId: 'id-other', model: 'gpt-4o' },
    ],
  })
})

test('what is not known is shown as unknown', () => {
  expect(unseen('mystery')?.why).toBe('unknown')
  expect(unseen('not listed')?.why).toBe('unknown')
  expect(unseen('set')?.why).toBe('noVision')
})

test('there is nothing to warn of if the model sees, or no image goes out', () => {
  expect(unseen('sees')).toBeNull()
  expect(unseen('blind', [{ ...image, kind: 'text', mimeType: 'image/svg+xml' }])).toBeNull()
  expect(unseen('blind', [{ ...image, state: 'failed' }])).toBeNull()
  // While it is uploaded, its type has to do.
  expect(unseen('blind', [{ ...image, kind: null, state: 'uploading' }])).not.toBeNull()
})

test('the choice holds only models for chats, and the demo last', () => {
  expect(
    chatChannels(CHANNELS).map(({ channelName, models }) => [channelName, ...models.map(({ name }) => name)]),
  ).toEqual([
    ['other', 'gpt-4o'],
    ['relay', 'blind', 'sees', 'mystery', 'set'],
    ['demo', 'demo'],
  ])
})
