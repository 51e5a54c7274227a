/** The list of skills, as its page shows it. Pure. */

import type { SkillSource, SkillState, SkillView, ToolLabel } from '@/protocol'
import type { ToolView, TranscriptRow } from '@/view/types'

export type SkillFilter = 'all' | 'ready' | 'executable' | 'problem'

export type Language = keyof ToolLabel

/** Where a skill may come from, what counts most first. */
const SOURCES: readonly SkillSource[] = ['agent', 'workspace', 'data', 'shipped']

export const STATE_KINDS: Record<SkillState, 'ok' | 'warn' | 'danger' | 'plain'> = {
  ready: 'ok',
  unavailable: 'warn',
  invalid: 'danger',
  shadowed: 'plain',
  not_chosen: 'plain',
}

export const titleOf = (skill: SkillView, language: Language): string => skill.label?.[language] || skill.name

/** What people read about a skill; texts that are not translated are those for the model. */
export const aboutOf = (skill: SkillView, language: Language): string =>
  skill.translations?.[language]?.description ?? skill.description

/** Of two skills with one name, only one can be opened by it. */
export const keyOf = (skill: SkillView): string =>
  `${skill.source}/${skill.state === 'shadowed' ? 'shadowed/' : ''}${skill.name}`

/** Skills that match, by their source and then by their name. */
export function foundSkills(skills: readonly SkillView[], filter: SkillFilter, search: string): readonly SkillView[] {
  const wanted = search.trim().toLowerCase()
  const fits = (skill: SkillView): boolean => {
    if (filter === 'ready' && skill.state !== 'ready') return false
    if (filter === 'executable' && !skill.isExecutable) return false
    if (
      filter === 'problem' &&
      skill.state !== 'unavailable' &&
      skill.state !== 'invalid' &&
      (skill.warnings ?? []).length === 0
    )
      return false
    return [skill.name, skill.description, aboutOf(skill, 'zh'), skill.label?.zh, skill.label?.en].some((text) =>
      text?.toLowerCase().includes(wanted),
    )
  }
  return skills
    .filter(fits)
    .toSorted((a, b) => SOURCES.indexOf(a.source) - SOURCES.indexOf(b.source) || a.name.localeCompare(b.name))
}

/** A call in a transcript. */
export function toolIn(rows: readonly TranscriptRow[], toolCallId: string): ToolView | null {
  for (const row of rows) {
    if (row.kind === 'tool' && row.tool.id === toolCallId) return row.tool
    if (row.kind !== 'assistant' && row.kind !== 'activity') continue
    for (const part of row.parts) if (part.kind === 'tool' && part.tool.id === toolCallId) return part.tool
  }
  return null
}
