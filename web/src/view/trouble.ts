/** What went wrong, in the reader's language, and what can be done about it at once. */

import type { LocalizedError, LocalizedErrorKind } from '@/protocol'

export type TroubleLanguage = keyof LocalizedError['words']

/** Older servers and other programs tell it in one language only. */
export function troubleWords(
  trouble: Pick<LocalizedError, 'words'> | null | undefined,
  language: TroubleLanguage,
): string | null {
  return trouble?.words[language] ?? null
}

/** Something that a button beside an error does. */
export type Remedy =
  /** Sends a message that asks to go on. */
  | 'continue'
  | 'compact'
  /** Opens the list of models. */
  | 'model'
  /** Opens the channel's page, where its key and address are. */
  | 'channel'
  /** Opens the agent's page, where its workspace and model are. */
  | 'agent'

/** What the words of each kind advise. */
const REMEDIES: Partial<Record<LocalizedErrorKind, readonly Remedy[]>> = {
  auth: ['channel', 'model'],
  quota: ['channel', 'model'],
  rate_limited: ['model'],
  overloaded: ['model'],
  context_too_long: ['compact', 'model'],
  bad_request: ['channel', 'model'],
  unknown_model: ['model', 'channel'],
  no_tool_support: ['model', 'channel'],
  wrong_address: ['channel', 'model'],
  name_not_found: ['channel', 'model'],
  unreachable: ['channel', 'model'],
  tls_failed: ['channel', 'model'],
  connection_lost: ['continue'],
  timeout: ['continue', 'model'],
  stream_broken: ['continue'],
  protocol: ['channel', 'model'],
  answer_too_large: ['continue'],
  turn_limit: ['continue'],
  length: ['continue'],
  interrupted: ['continue'],
  stalled: ['continue', 'model'],
  not_ready: ['agent', 'model'],
}

/** Pages with settings are for those who may change them. */
const FOR_ADMINISTRATORS: readonly Remedy[] = ['channel', 'agent']

/** What the reader can do at all. */
export interface Means {
  /** May change channels and agents. */
  readonly mayConfigure?: boolean
  /** There is another model to choose. */
  readonly hasModels?: boolean
}

export function remediesFor(
  kind: LocalizedErrorKind | null | undefined,
  { mayConfigure = false, hasModels = false }: Means,
): readonly Remedy[] {
  const remedies = (kind && REMEDIES[kind]) || NO_REMEDIES
  return remedies.filter((remedy) =>
    remedy === 'model' ? hasModels : mayConfigure || !FOR_ADMINISTRATORS.includes(remedy),
  )
}

export const NO_REMEDIES: readonly Remedy[] = []
