import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { VueWrapper } from '@vue/test-utils'
import { show } from '@/ui/testing'
import FormNumber from '../form/FormNumber.vue'
import AgentModel from './AgentModel.vue'
import { blankAgent, toForm } from './form'

beforeEach(() => {
  setActivePinia(createPinia())
})

let page: VueWrapper
afterEach(() => page.unmount())

test('how much is kept can be set where compaction is only by hand', () => {
  const form = toForm({ ...blankAgent(), compactionThreshold: 0 })
  page = show(AgentModel, { modelValue: form, errors: {}, channels: [], disabled: false })
  const numbers = page.findAllComponents(FormNumber)
  const kept = numbers.find((number) => (number.props() as { label: string }).label === 'Recent messages to keep')!
  expect((kept.props() as { disabled: boolean }).disabled).toBe(false)
})
