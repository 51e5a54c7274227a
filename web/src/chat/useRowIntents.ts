import { ref, type Ref } from 'vue'
import { useSession } from '@/stores'
import type { RowIntent } from '@/ui/message/intents'
import type { Remedy } from '@/view/trouble'
import type { CompactionRow, ProcessLog, TranscriptRow } from '@/view/types'
import type { useActions } from './useActions'

interface Transcript {
  toEnd(): void
  release(): void
  show(key: string): void
}

/** What an intent opens elsewhere on the page. */
interface Surroundings {
  draftKey(): string
  focusComposer(): void
  showTree(): void
  toggleFolded(): void
  showImage(image: { src: string; alt: string }): void
  showLog(log: ProcessLog): void
  showSummary(row: CompactionRow): void
  /** Does what an error advises. */
  remedy(remedy: Remedy, channel: string | null): void
}

/** Carries out what the rows of the transcript ask for, and knows which message is being edited. */
export function useRowIntents(
  transcript: Readonly<Ref<Transcript | null>>,
  actions: ReturnType<typeof useActions>,
  page: Surroundings,
) {
  const session = useSession()
  const editingId = ref<string | null>(null)

  function onIntent(row: TranscriptRow, intent: RowIntent): void {
    switch (intent.type) {
      case 'retry':
        if (editingId.value !== null) transcript.value?.toEnd()
        editingId.value = null
        return void actions.retry(row.entryId)
      case 'startEdit':
        // The field is higher than the message, which would make the view follow the end.
        transcript.value?.release()
        editingId.value = row.entryId
        return
      case 'cancelEdit':
        editingId.value = null
        return page.focusComposer()
      case 'edit':
        editingId.value = null
        transcript.value?.toEnd()
        return void (row.entryId && actions.edit(row.entryId, intent.text, page.draftKey()))
      case 'fork':
        return void (row.entryId && actions.fork(row.entryId))
      case 'showInTree':
        return page.showTree()
      case 'label':
        return void (row.entryId && actions.label(row.entryId, intent.label))
      case 'switchBranch':
        return void actions.switchBranch(intent.entryId)
      case 'openImage':
        return page.showImage(intent.image)
      case 'loadOlder':
        return void session.loadOlder()
      case 'resend':
        return void (row.kind === 'pending' && actions.resend(row.requestId))
      case 'discard':
        return void (row.kind === 'pending' && actions.discard(row.requestId))
      case 'openLog':
        return page.showLog(intent.log)
      case 'openSummary':
        return void (row.kind === 'compaction' && page.showSummary(row))
      case 'toggleFolded':
        return page.toggleFolded()
      case 'remedy':
        return page.remedy(intent.remedy, intent.channel)
      case 'compact':
        return void actions.compact()
      case 'dismissCompaction':
        return void actions.dismissCompaction()
      case 'continueFrom':
        return void actions.switchTo(intent.entryId)
    }
  }

  function edit(row: TranscriptRow): void {
    editingId.value = row.entryId
    transcript.value?.show(row.key)
  }

  return { editingId, onIntent, edit }
}
