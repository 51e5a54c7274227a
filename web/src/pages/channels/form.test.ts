import { describe, expect, test } from 'vitest'
import type { ChannelView, ModelInfo, SupplierOption } from '@/protocol'
import { blankChannel, changeSupplier, modelForm, problems, shownModel, specOf, toForm, toWrite } from './form'

const info = (name: string): ModelInfo => ({
  name,
  contextWindow: 128_000,
  maxOutput: 8_000,
  vision: true,
  tools: true,
  thinking: false,
  chat: true,
  source: 'catalogue',
})

const openai: SupplierOption = {
  id: 'openai',
  label: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  needsKey: true,
  models: ['a', 'b', 'c', 'd'].map(info),
}
const azure: SupplierOption = { id: 'azure', label: 'Azure', needsKey: true, models: [] }

const kept: ChannelView = {
  id: 'c1',
  name: 'work',
  supplier: 'openai',
  baseUrl: null,
  models: [{ name: 'a', contextWindow: 1000, vision: false }, { name: 'x' }],
  isAuxiliary: true,
  status: 'disabled',
  apiKeySet: true,
  apiKeyLast4: '1234',
  rev: 2,
  createdAt: 1,
  updatedAt: 2,
}

describe('form and what is sent', () => {
  test('a channel that was only looked at is sent as it is, without a key', () => {
    expect(toWrite(toForm(specOf(kept)))).toEqual(specOf(kept))
  })

  test('a key is kept, replaced or cleared', () => {
    const form = toForm(specOf(kept))
    expect('apiKey' in toWrite(form)).toBe(false)
    expect(toWrite({ ...form, clearsKey: true }).apiKey).toBeNull()
    expect(toWrite({ ...form, clearsKey: true, key: ' sk-1\n' }).apiKey).toBe('sk-1')
  })

  test('a new channel has the first models of its supplier and a free name', () => {
    expect(blankChannel(openai, ['OpenAI'])).toMatchObject({
      name: 'openai-2',
      models: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    })
  })

  test('what the channel says about a model counts more than the catalogue', () => {
    expect(shownModel(modelForm(kept.models[0]!), info('a'))).toMatchObject({
      name: 'a',
      contextWindow: 1000,
      maxOutput: 8000,
      vision: false,
      tools: true,
    })
    expect(shownModel(modelForm({ name: 'x' }), undefined)).toEqual({ name: 'x' })
  })
})

describe('another supplier', () => {
  test('brings its own name and models', () => {
    const form = toForm(blankChannel(openai, []))
    changeSupplier(form, openai, azure, [])
    expect(form).toMatchObject({ supplier: 'azure', name: 'azure', models: [] })
    changeSupplier(form, azure, openai, [])
    expect(form.models.map((model) => model.name)).toEqual(['a', 'b', 'c'])
  })

  test('keeps what the user typed', () => {
    const form = toForm({ ...blankChannel(openai, []), name: 'mine', models: [{ name: 'own' }] })
    changeSupplier(form, openai, azure, [])
    expect(form).toMatchObject({ supplier: 'azure', name: 'mine', models: [{ name: 'own' }] })
  })
})

describe('what is wrong', () => {
  const check = (change: Partial<ReturnType<typeof toForm>>, supplier: SupplierOption = openai) =>
    problems({ ...toForm(specOf(kept)), ...change }, supplier, true)

  test('is reported by field', () => {
    expect(check({})).toEqual({})
    expect(check({ name: '' })).toEqual({ name: 'nameNeeded' })
    expect(check({ name: 'a/b' })).toEqual({ name: 'nameForm' })
    expect(check({}, azure)).toEqual({ baseUrl: 'addressNeeded' })
    expect(check({ baseUrl: 'api.example.com' })).toEqual({ baseUrl: 'addressForm' })
    expect(check({ baseUrl: 'ftp://example.com' })).toEqual({ baseUrl: 'addressForm' })
    expect(check({ baseUrl: 'https://me:secret@example.com' })).toEqual({ baseUrl: 'addressSecret' })
    expect(check({ baseUrl: 'http://127.0.0.1:11434' })).toEqual({})
    expect(check({ models: [{ name: 'a' }, { name: ' ' }, { name: 'a' }].map(modelForm) })).toEqual({
      'models.1': 'modelName',
      'models.2': 'modelTwice',
    })
  })

  test('is a missing key, where one is needed', () => {
    const fresh = toForm(blankChannel(openai, []))
    const missing = { apiKey: 'keyNeeded' }
    expect(problems(fresh, openai, false)).toEqual(missing)
    expect(problems({ ...fresh, key: ' ' }, openai, false)).toEqual(missing)
    expect(problems({ ...fresh, clearsKey: true }, openai, true)).toEqual(missing)
    expect(problems({ ...fresh, key: 'sk-1' }, openai, false)).toEqual({})
    expect(problems(fresh, openai, true)).toEqual({})
    expect(problems({ ...fresh, baseUrl: 'http://127.0.0.1:9' }, openai, false), 'a server of their own').toEqual({})
    expect(
      problems({ ...fresh, baseUrl: 'https://me.example' }, azure, false),
      'every user has an address there',
    ).toEqual(missing)
    expect(problems({ ...fresh, enabled: false }, openai, false)).toEqual({})
    expect(problems(fresh, { ...openai, needsKey: false }, false)).toEqual({})
  })
})
