import { computed } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { useCatalogue } from '@/stores'
import type { ChoiceView } from '@/view/types'

/** The agent whose view of the skills is shown; it stands in the address. */
export function useSkillAgent() {
  const route = useRoute()
  const router = useRouter()
  const catalogue = useCatalogue()

  /** Null is the default agent. */
  const id = computed(() => (typeof route.query['agent'] === 'string' ? route.query['agent'] : null))
  const agent = computed(
    () => catalogue.agents.find((agent) => (id.value === null ? agent.isDefault : agent.id === id.value)) ?? null,
  )

  return {
    id,
    agent,
    chosen: computed(() => agent.value?.id ?? null),
    query: computed(() => (id.value === null ? {} : { agent: id.value })),
    choices: computed<readonly ChoiceView[]>(() =>
      catalogue.agents.map((agent) => ({
        id: agent.id,
        label: agent.label || agent.name,
        hint: agent.description,
        group: '',
        disabled: false,
      })),
    ),
    choose(id: string): void {
      const isDefault = catalogue.agents.find((agent) => agent.id === id)?.isDefault ?? false
      void router.replace({ query: isDefault ? {} : { agent: id } })
    },
  }
}
