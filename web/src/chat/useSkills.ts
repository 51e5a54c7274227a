import { shallowRef, watch } from 'vue'
import { api } from '@/api'
import type { SkillView } from '@/protocol'

/** The skills that an agent can use, looked up whenever they begin to be wanted: they may have changed. */
export function useSkills(agentId: () => string | null, isWanted: () => boolean) {
  const skills = shallowRef<readonly SkillView[]>([])

  watch([agentId, isWanted], async ([id, wanted], _before, onCleanup) => {
    if (!wanted) return
    const reading = new AbortController()
    onCleanup(() => reading.abort())
    try {
      const { items } = await api.skills.list(id, reading.signal)
      if (!reading.signal.aborted) skills.value = items.filter((skill) => skill.state === 'ready')
    } catch {
      // Without the list names are written out, and the server knows them.
      if (!reading.signal.aborted) skills.value = []
    }
  })

  return skills
}
