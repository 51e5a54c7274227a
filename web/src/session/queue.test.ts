import { expect, test } from 'vitest'
import { queueAfter } from './queue'

const EMPTY = { items: [], held: false }
const told = (itemId: string) => ({ itemId, preview: itemId, mode: 'queue' as const, queuedAt: 1 })

test('texts that an event does not repeat stay', () => {
  const attachments = [{ name: 'a.png', mimeType: 'image/png' }]
  const first = queueAfter(EMPTY, { items: [{ ...told('a'), content: 'the whole of a', attachments }], held: false })
  expect(first.items).toEqual([{ itemId: 'a', content: 'the whole of a', attachments, mode: 'queue', queuedAt: 1 }])
  const second = queueAfter(first, {
    items: [
      { ...told('b'), content: 'b' },
      { ...told('a'), held: true },
    ],
    held: true,
  })
  expect(second.held).toBe(true)
  expect(second.items.map((item) => item.content)).toEqual(['b', 'the whole of a'])
  expect(second.items[1]).toEqual({ ...first.items[0], held: true })
  const edited = queueAfter(second, { items: [{ ...told('a'), content: 'another text' }], held: false })
  expect(edited.items).toEqual([{ itemId: 'a', content: 'another text', mode: 'queue', queuedAt: 1 }])
})
