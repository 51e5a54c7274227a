import { computed, onScopeDispose, shallowRef, watch, type Ref } from 'vue'
import { ApiError, request } from '@/api'
import type { Attachment, UploadedFile } from '@/protocol'
import { useDrafts, type DraftFile } from '@/stores'
import type { ComposerAttachment } from '@/view/types'

interface Upload {
  readonly view: ComposerAttachment
  readonly file: File | null
  readonly done: DraftFile | null
}

/** Files that go with the next message: uploaded at once, and kept with the draft. */
export function useAttachments(draftKey: Readonly<Ref<string>>) {
  const drafts = useDrafts()
  const uploads = shallowRef<readonly Upload[]>([])
  const previews = new Set<string>()
  let count = 0

  watch(draftKey, (key) => (uploads.value = drafts.get(key).files.map(kept)), { immediate: true })
  onScopeDispose(() => previews.forEach((address) => URL.revokeObjectURL(address)))

  function add(files: readonly File[]): void {
    for (const file of files) {
      const preview = file.type.startsWith('image/') ? URL.createObjectURL(file) : null
      if (preview) previews.add(preview)
      const view: ComposerAttachment = {
        key: `file-${++count}`,
        name: file.name,
        mimeType: file.type,
        bytes: file.size,
        kind: null,
        preview,
        state: 'uploading',
        progress: 0,
        problem: null,
        canRetry: false,
      }
      uploads.value = [...uploads.value, { view, file, done: null }]
      void upload(view.key, file, draftKey.value)
    }
  }

  async function upload(key: string, file: File, draft: string): Promise<void> {
    const form = new FormData()
    form.append('file', file)
    try {
      const { items } = await request<{ items: UploadedFile[] }>('attachments', { method: 'POST', body: form })
      const { id, name, mimeType, bytes, kind } = items[0]!
      const done = { id, name, mimeType, bytes, kind }
      change(key, { done }, { state: 'ready', progress: 1, mimeType, bytes, kind })
      // The draft may have been left meanwhile; the file belongs to it all the same.
      if (draft !== draftKey.value) drafts.set(draft, { files: [...drafts.get(draft).files, done] })
      else keep()
    } catch (error) {
      const problem = error instanceof ApiError ? error.message : String(error)
      change(key, {}, { state: 'failed', problem, canRetry: mayHelp(error) })
    }
  }

  function change(key: string, upload: Partial<Upload>, view: Partial<ComposerAttachment>): void {
    uploads.value = uploads.value.map((other) =>
      other.view.key === key ? { ...other, ...upload, view: { ...other.view, ...view } } : other,
    )
  }

  function remove(key: string): void {
    uploads.value = uploads.value.filter((upload) => upload.view.key !== key)
    keep()
  }

  function retry(key: string): void {
    const file = uploads.value.find((upload) => upload.view.key === key)?.file
    if (!file) return
    change(key, {}, { state: 'uploading', progress: 0, problem: null })
    void upload(key, file, draftKey.value)
  }

  function keep(): void {
    drafts.set(draftKey.value, { files: uploads.value.flatMap((upload) => (upload.done ? [upload.done] : [])) })
  }

  return {
    views: computed(() => uploads.value.map((upload) => upload.view)),
    /** What a message carries. */
    ready: (): Attachment[] =>
      uploads.value.flatMap(({ done }) => (done ? [{ id: done.id, name: done.name, mimeType: done.mimeType }] : [])),
    clear: () => (uploads.value = []),
    add,
    remove,
    retry,
  }
}

/** What the server refuses because of the file itself, it refuses again. */
const FINAL: readonly string[] = ['too_large', 'bad_request', 'forbidden']

const mayHelp = (error: unknown): boolean => !(error instanceof ApiError && FINAL.includes(error.code))

function kept(file: DraftFile): Upload {
  const isImage = file.mimeType.startsWith('image/')
  const view: ComposerAttachment = {
    key: file.id,
    name: file.name,
    mimeType: file.mimeType,
    bytes: file.bytes,
    kind: file.kind ?? null,
    preview: isImage ? `/admin/netaclaw/attachments/${encodeURIComponent(file.id)}` : null,
    state: 'ready',
    progress: 1,
    problem: null,
    canRetry: false,
  }
  return { view, file: null, done: file }
}
