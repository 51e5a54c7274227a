import { describe, expect, test } from 'vitest'
import type { SkillView } from '@/protocol'
import { foundSkills, keyOf } from './skills'

const skill = (name: string, changes: Partial<SkillView> = {}): SkillView => ({
  name,
  description: `does ${name}`,
  source: 'data',
  state: 'ready',
  isExecutable: false,
  timeoutMs: 600_000,
  ...changes,
})

const SKILLS = [
  skill('zip', { source: 'shipped', isExecutable: true }),
  skill('audit', { source: 'shipped', state: 'shadowed' }),
  skill('audit', { label: { zh: '审计', en: 'Audit' } }),
  skill('broken', { state: 'invalid', problems: [{ zh: '无', en: 'no', reason: { code: 'description_missing' } }] }),
  skill('noisy', { warnings: [{ zh: '长', en: 'long', reason: { code: 'name_missing' } }] }),
  skill('ffmpeg', { source: 'workspace', state: 'unavailable', isExecutable: true }),
]

const names = (filter: Parameters<typeof foundSkills>[1], search = '') =>
  foundSkills(SKILLS, filter, search).map((skill) => `${skill.source}/${skill.name}`)

describe('the list of skills', () => {
  test('what counts most comes first', () => {
    expect(names('all')).toEqual([
      'workspace/ffmpeg',
      'data/audit',
      'data/broken',
      'data/noisy',
      'shipped/audit',
      'shipped/zip',
    ])
  })

  test('can be narrowed by state and by words', () => {
    expect(names('ready')).toEqual(['data/audit', 'data/noisy', 'shipped/zip'])
    expect(names('executable')).toEqual(['workspace/ffmpeg', 'shipped/zip'])
    expect(names('problem')).toEqual(['workspace/ffmpeg', 'data/broken', 'data/noisy'])
    expect(names('all', '审')).toEqual(['data/audit'])
    expect(names('all', ' DOES z')).toEqual(['shipped/zip'])
  })

  test('keys are unique although names are not', () => {
    expect(new Set(SKILLS.map(keyOf)).size).toBe(SKILLS.length)
  })
})
