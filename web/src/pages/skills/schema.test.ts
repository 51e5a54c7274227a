import { describe, expect, test } from 'vitest'
import { blankInput, fieldsOf, inputOf, problemsOf, type InputForm, wordsOf } from './schema'

const SCHEMA = {
  type: 'object',
  required: ['source', 'frames'],
  properties: {
    source: {
      type: 'string',
      title: 'Source',
      description: 'A folder or a video.',
      minLength: 2,
      maxLength: 5,
      pattern: '^[a-z]+$',
    },
    frames: { type: 'integer', minimum: 1, maximum: 9 },
    ratio: { type: ['number', 'null'], default: 0.5 },
    deep: { type: 'boolean' },
    report: { type: 'boolean', default: true },
    mode: { enum: ['fast', 'exact', 3] },
    only: { type: 'array', items: { type: 'string' }, maxItems: 2 },
    box: { type: 'object', properties: { x: { type: 'number' } } },
  },
}

const fields = fieldsOf(SCHEMA)
const form = (changes: InputForm): InputForm => ({ ...blankInput(fields), source: 'abc', frames: 3, ...changes })
const problem = (changes: InputForm) => problemsOf(fields, form(changes))

describe('a form from a schema', () => {
  test('has a field for every property, each of its kind, in an order that makes sense', () => {
    expect(fields.map((field) => [field.name, field.kind, field.required])).toEqual([
      ['source', 'text', true],
      ['frames', 'number', true],
      ['only', 'lines', false],
      ['mode', 'choice', false],
      ['deep', 'switch', false],
      ['report', 'switch', false],
      ['ratio', 'number', false],
      ['box', 'json', false],
    ])
    expect(fields[0]).toMatchObject({ label: 'Source', hint: 'A folder or a video.' })
    expect(fields[1]).toMatchObject({ label: 'Frames', isWhole: true, min: 1, max: 9 })
  })

  test('begins with the defaults', () => {
    expect(blankInput(fields)).toEqual({
      source: '',
      frames: null,
      ratio: 0.5,
      deep: false,
      report: true,
      mode: '',
      only: '',
      box: '',
    })
  })

  test.each([
    [{ source: ' ' }, { source: { key: 'required', limit: '' } }],
    [{ frames: null }, { frames: { key: 'required', limit: '' } }],
    [{ source: 'a' }, { source: { key: 'short', limit: 2 } }],
    [{ source: 'abcdef' }, { source: { key: 'long', limit: 5 } }],
    [{ source: 'A1' }, { source: { key: 'pattern', limit: '^[a-z]+$' } }],
    [{ frames: 0 }, { frames: { key: 'min', limit: 1 } }],
    [{ frames: 10 }, { frames: { key: 'max', limit: 9 } }],
    [{ frames: 1.5 }, { frames: { key: 'whole', limit: '' } }],
    [{ only: 'a\nb\nc' }, { only: { key: 'long', limit: 2 } }],
    [{ box: '{x: 1}' }, { box: { key: 'json', limit: '' } }],
    [{ box: '{"x": 1}', only: 'a\n\n b ' }, {}],
  ] as [InputForm, object][])('%j is reported as %j', (changes, expected) => {
    expect(problem(changes)).toEqual(expected)
  })

  test('gives the input, without empty and untouched fields', () => {
    expect(inputOf(fields, form({}))).toEqual({ source: 'abc', frames: 3, ratio: 0.5, report: true })
    expect(
      inputOf(fields, form({ ratio: null, deep: true, report: false, mode: '3', only: ' a \n\nb', box: '{"x":1}' })),
    ).toEqual({
      source: 'abc',
      frames: 3,
      deep: true,
      report: false,
      mode: 3,
      only: ['a', 'b'],
      box: { x: 1 },
    })
  })

  test.each([[null], [undefined], [{ type: 'array' }], [{}], ['nonsense'], [{ properties: [] }]])(
    '%j asks for the whole input as JSON',
    (schema) => {
      const whole = fieldsOf(schema)
      expect(whole).toMatchObject([{ name: '', kind: 'json', initial: '{}' }])
      expect(inputOf(whole, { '': '[1, {"a": 2}]' })).toEqual([1, { a: 2 }])
      expect(problemsOf(whole, { '': '' })).toEqual({ '': { key: 'required', limit: '' } })
    },
  )

  test('a property that is no schema, and a pattern that is none, do no harm', () => {
    const odd = fieldsOf({ properties: { a: true, b: { type: 'string', pattern: '(' } } })
    expect(odd.map((field) => field.kind)).toEqual(['text', 'json'])
    expect(problemsOf(odd, { a: '1', b: 'x' })).toEqual({})
  })
})

test('labels are words, also where the author gave none, and in the language of the page', () => {
  const schema = {
    type: 'object',
    properties: {
      bigFileBytes: { type: 'integer' },
      url: { title: 'Address', 'x-zh': { title: '地址' }, type: 'string' },
    },
  }
  const labels = (language: string) => fieldsOf(schema, language).map((field) => field.label)
  expect(labels('en')).toEqual(['Address', 'Big file bytes'])
  expect(labels('zh')).toEqual(['地址', 'Big file bytes'])
  expect(wordsOf('max_HTTPRequests')).toBe('Max HTTP requests')
})
