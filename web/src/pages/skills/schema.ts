/** A form made from a JSON Schema, and what was filled in as the input that it describes. Pure. */

import type { JsonValue } from '@/protocol'

export interface SchemaField {
  /** Empty where the input as a whole is one field. */
  name: string
  label: string
  hint: string
  required: boolean
  kind: 'text' | 'number' | 'switch' | 'choice' | 'lines' | 'json'
  /** What is there before anything is filled in. */
  initial: FieldValue
  /** Left out of the input if it is unchanged and optional. */
  isOptional: boolean
  /** For a choice; each value as JSON. */
  options: readonly { value: string; label: string }[]
  isWhole: boolean
  min: number | null
  max: number | null
  minLength: number | null
  maxLength: number | null
  pattern: string | null
}

export type FieldValue = string | number | boolean | null
export type InputForm = Record<string, FieldValue>

/** What is wrong with a field: the key of a text, and the number that it names. */
export interface FieldProblem {
  key: 'required' | 'min' | 'max' | 'whole' | 'short' | 'long' | 'pattern' | 'json'
  limit: number | string
}

type Schema = Record<string, unknown>
/** What fields are called in the language of the page, by their names. */
export type InputTexts = Partial<Record<string, { label?: string; description?: string }>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const numberIn = (schema: Schema, key: string): number | null => (typeof schema[key] === 'number' ? schema[key] : null)
const textIn = (schema: Schema, key: string): string => (typeof schema[key] === 'string' ? schema[key] : '')

/** In a language of its own under `x-zh` and the like, else as the schema says it. */
function told(schema: Schema, key: string, language: string): string {
  const own = schema[`x-${language}`]
  return (isSchema(own) && textIn(own, key)) || textIn(schema, key)
}

/** The fields for an input; one for all of it where the schema is not that of an object. */
export function fieldsOf(schema: unknown, language = 'en', texts: InputTexts = {}): readonly SchemaField[] {
  const properties = isSchema(schema) && isSchema(schema['properties']) ? schema['properties'] : null
  if (!isSchema(schema) || !properties) return [field('', isSchema(schema) ? schema : {}, true, 'json', language)]
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const fields = Object.entries(properties).map(([name, property]) => {
    const of = isSchema(property) ? property : {}
    const made = field(name, of, required.includes(name), kindOf(of), language)
    const { label = made.label, description = made.hint } = texts[name] ?? {}
    return { ...made, label, hint: description }
  })
  return fields.sort((a, b) => rank(a) - rank(b))
}

/** Schemas arrive in the order of the alphabet. What has to be given comes first, and limits come late. */
const RANKS: readonly SchemaField['kind'][] = ['text', 'lines', 'choice', 'switch', 'number', 'json']
const rank = (field: SchemaField): number => (field.required ? -1 : RANKS.indexOf(field.kind))

function typeOf(schema: Schema): unknown {
  const { type } = schema
  return Array.isArray(type) ? type.find((one) => one !== 'null') : type
}

function kindOf(schema: Schema): SchemaField['kind'] {
  if (Array.isArray(schema['enum'])) return 'choice'
  const type = typeOf(schema)
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'switch'
  const { items } = schema
  return type === 'array' && isSchema(items) && typeOf(items) === 'string' ? 'lines' : 'json'
}

/** A name of a program as people write: `bigFileBytes` is “Big file bytes”. */
export function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
    .join(' ')
  return words === '' ? '' : words[0]!.toUpperCase() + words.slice(1)
}

function field(
  name: string,
  schema: Schema,
  required: boolean,
  kind: SchemaField['kind'],
  language: string,
): SchemaField {
  const given = schema['default']
  return {
    name,
    label: told(schema, 'title', language) || wordsOf(name),
    hint: told(schema, 'description', language),
    required,
    kind,
    initial: initialOf(kind, given, name),
    isOptional: !required && given === undefined,
    options:
      kind === 'choice'
        ? (schema['enum'] as unknown[]).map((value) => ({ value: JSON.stringify(value), label: wordOf(value) }))
        : [],
    isWhole: typeOf(schema) === 'integer',
    min: numberIn(schema, 'minimum'),
    max: numberIn(schema, 'maximum'),
    minLength: numberIn(schema, kind === 'lines' ? 'minItems' : 'minLength'),
    maxLength: numberIn(schema, kind === 'lines' ? 'maxItems' : 'maxLength'),
    pattern: textIn(schema, 'pattern') || null,
  }
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function initialOf(kind: SchemaField['kind'], given: unknown, name: string): FieldValue {
  switch (kind) {
    case 'text':
      return typeof given === 'string' ? given : ''
    case 'number':
      return typeof given === 'number' ? given : null
    case 'switch':
      return given === true
    case 'choice':
      return given === undefined ? '' : JSON.stringify(given)
    case 'lines':
      return Array.isArray(given) ? given.map(wordOf).join('\n') : ''
    case 'json':
      if (given !== undefined) return JSON.stringify(given, null, 2)
      return name === '' ? '{}' : ''
  }
}

export const blankInput = (fields: readonly SchemaField[]): InputForm =>
  Object.fromEntries(fields.map((field) => [field.name, field.initial]))

const linesIn = (value: FieldValue): string[] =>
  String(value ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function isEmpty(field: SchemaField, value: FieldValue): boolean {
  if (field.kind === 'switch') return false
  return field.kind === 'lines' ? linesIn(value).length === 0 : value === null || String(value).trim() === ''
}

export function problemsOf(fields: readonly SchemaField[], form: InputForm): Record<string, FieldProblem> {
  const found: Record<string, FieldProblem> = {}
  for (const field of fields) {
    const problem = problemOf(field, form[field.name] ?? null)
    if (problem) found[field.name] = problem
  }
  return found
}

function problemOf(field: SchemaField, value: FieldValue): FieldProblem | null {
  if (isEmpty(field, value)) return field.required ? { key: 'required', limit: '' } : null
  const { min, max, minLength, maxLength, pattern } = field
  switch (field.kind) {
    case 'number':
      if (field.isWhole && !Number.isInteger(value)) return { key: 'whole', limit: '' }
      if (min !== null && Number(value) < min) return { key: 'min', limit: min }
      return max !== null && Number(value) > max ? { key: 'max', limit: max } : null
    case 'text':
    case 'lines': {
      const length = field.kind === 'lines' ? linesIn(value).length : [...String(value)].length
      if (minLength !== null && length < minLength) return { key: 'short', limit: minLength }
      if (maxLength !== null && length > maxLength) return { key: 'long', limit: maxLength }
      return field.kind === 'text' && pattern !== null && !fits(pattern, String(value))
        ? { key: 'pattern', limit: pattern }
        : null
    }
    case 'json':
      return parsed(String(value)) === undefined ? { key: 'json', limit: '' } : null
    default:
      return null
  }
}

/** A pattern that this browser does not understand is the server's to check. */
function fits(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** The input that was filled in, without empty fields and untouched optional ones. */
export function inputOf(fields: readonly SchemaField[], form: InputForm): JsonValue {
  const whole = fields.find((field) => field.name === '')
  if (whole) return valueOf(whole, form['']!) ?? null
  const input: Record<string, JsonValue> = {}
  for (const field of fields) {
    const value = form[field.name] ?? null
    if (isEmpty(field, value) || (field.isOptional && field.kind === 'switch' && value === field.initial)) continue
    const told = valueOf(field, value)
    if (told !== undefined) input[field.name] = told
  }
  return input
}

function valueOf(field: SchemaField, value: FieldValue): JsonValue | undefined {
  switch (field.kind) {
    case 'lines':
      return linesIn(value)
    case 'choice':
    case 'json':
      return parsed(String(value))
    default:
      return value
  }
}
