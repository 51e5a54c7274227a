import { asking } from './asking.ts'
import { compaction } from './compaction.ts'
import { workOnFiles } from './files.ts'
import { records } from './records.ts'
import { skillsAtWork } from './skills.ts'
import type { Stage } from './stage.ts'
import { trouble } from './trouble.ts'

export { beginnings } from './beginnings.ts'
export type { Prepare, Shots } from './stage.ts'

/** All states that begin with a logged-in user. */
export const STATES: Record<string, (stage: Stage) => Promise<void>> = {
  'work on files': workOnFiles,
  skills: skillsAtWork,
  'questions and consent': asking,
  compaction,
  trouble,
  records,
}
