import { computed } from 'vue'
import { imageAddress } from '@/api'
import { useAccount, useCatalogue, useConnection, useOutbox, usePrefs, useSession } from '@/stores'
import type { Outgoing } from '@/socket'
import { NO_FILES, NO_IMAGES } from '@/view/content'
import { chatChannels } from '@/view/models'
import { transcriptProjector } from '@/view/transcript'
import type { Means } from '@/view/trouble'
import type { PendingUserRow, QueueRow, TranscriptRow } from '@/view/types'

/** The rows of the open session, with what is on its way to it. */
export function useRows(showsFolded: () => boolean) {
  const session = useSession()
  const outbox = useOutbox()
  const prefs = usePrefs()
  const account = useAccount()
  const catalogue = useCatalogue()
  const connection = useConnection()
  const project = transcriptProjector()

  const own = computed(() => outbox.items.filter((item) => (item.chat.sessionId ?? null) === session.id))
  /** During a run a message waits in the queue; else it is the next of the transcript. */
  const queues = computed(() => session.state !== null && session.state.run.status !== 'idle')
  const pending = computed(() => own.value.filter((item) => !queues.value || item.state === 'failed').map(pendingRow))

  const means = computed<Means>(() => ({
    mayConfigure: account.mayConfigure,
    hasModels: chatChannels(catalogue.models).flatMap((channel) => channel.models).length > 1,
  }))
  const rows = computed<readonly TranscriptRow[]>(() => {
    if (!session.state) return pending.value
    return project(session.state, {
      verbosity: prefs.verbosity,
      language: prefs.language,
      means: means.value,
      pending: pending.value,
      showsFolded: showsFolded(),
      loadingOlder: session.loadingOlder,
      connected: connection.isConnected,
      address: (entryId, number) => imageAddress(session.id ?? '', entryId, number),
    })
  })
  const queued = computed(() => (queues.value ? own.value.filter((item) => item.state !== 'failed').map(queueRow) : []))
  return { rows, queued }
}

function pendingRow(item: Outgoing): PendingUserRow {
  return {
    kind: 'pending',
    key: item.requestId,
    requestId: item.requestId,
    text: item.chat.content,
    images: NO_IMAGES,
    files: (item.chat.attachments ?? []).length === 0 ? NO_FILES : item.chat.attachments!.map(fileView),
    state: item.state,
    problem: item.problem?.message ?? null,
    entryId: null,
    branch: null,
    label: null,
    at: item.sentAt,
  }
}

function fileView(file: { name: string; mimeType: string }, at: number) {
  return { key: String(at), name: file.name, mimeType: file.mimeType, bytes: null, href: null, fileOnly: false }
}

function queueRow(item: Outgoing): QueueRow {
  return {
    key: item.requestId,
    itemId: null,
    text: item.chat.content,
    attachmentNames: (item.chat.attachments ?? []).map((file) => file.name),
    mode: item.chat.mode ?? 'auto',
    queuedAt: item.sentAt,
    pending: true,
  }
}
