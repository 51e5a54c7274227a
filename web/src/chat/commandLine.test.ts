import { describe, expect, test } from 'vitest'
import { readCommand } from './commandLine'

const NAMES = ['/compact', '/clear', '/tree', '/stop', '/rename', '/skill', '/help', '/skill folder-audit']
const read = (text: string) => readCommand(text, NAMES)

describe('what is typed with a slash', () => {
  test('is a command if there is one of that name', () => {
    expect(read(' /compact  the API ')).toEqual({ kind: 'command', name: '/compact', rest: 'the API' })
    expect(read('/Tree')).toEqual({ kind: 'command', name: '/tree', rest: '' })
    expect(read('/skill folder-audit {"path": "."}')).toEqual({
      kind: 'command',
      name: '/skill',
      rest: 'folder-audit {"path": "."}',
    })
  })

  test('is refused if there is none, with those that may have been meant', () => {
    expect(read('/nonsense')).toEqual({ kind: 'unknown', name: '/nonsense', suggestions: [] })
    expect(read('/compct now')).toEqual({ kind: 'unknown', name: '/compct', suggestions: ['/compact'] })
    expect(read('/ren')).toMatchObject({ kind: 'unknown', suggestions: ['/rename', '/tree'] })
    expect(read('/总结')).toEqual({ kind: 'unknown', name: '/总结', suggestions: [] })
  })

  test('is a message after a second slash, and if it is a path', () => {
    expect(read('//etc is a folder')).toEqual({ kind: 'message', text: '//etc is a folder' })
    expect(read('/etc/hosts, what is it?')).toEqual({ kind: 'message', text: '/etc/hosts, what is it?' })
    expect(read('/ 2 is a half')).toEqual({ kind: 'message', text: '/ 2 is a half' })
    expect(read('no /command')).toEqual({ kind: 'message', text: 'no /command' })
  })
})
