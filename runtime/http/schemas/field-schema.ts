/** Fields that a manifest declares (settings, extra fields of a request) as JSON Schema. */
import { type Field, type Fields, MAX_SETTING_LENGTH } from '../../contract/connector/settings.ts'
import { type JsonSchema, tidy } from './tidy.ts'

const FORMATS = { url: 'uri', hostname: 'hostname', email: 'email' } as const

/** Creates the JSON Schema of one declared field. */
export function fieldSchema(field: Field): JsonSchema {
  const { title, help: description, default: value } = field
  return tidy({ title, description, default: value, type: field.type, ...rulesOf(field) })
}

/** Creates the JSON Schema of an object with these fields, with `field_order` for forms. */
export function formSchema(fields: Fields): JsonSchema {
  const members = Object.entries(fields)
  return tidy({
    type: 'object',
    properties: Object.fromEntries(members.map(([name, field]) => [name, fieldSchema(field)])),
    required: members.filter(([, field]) => field.required === true).map(([name]) => name),
    field_order: members.map(([name]) => name),
  })
}

function rulesOf(field: Field): JsonSchema {
  if (field.type === 'boolean') return {}
  if (field.type === 'integer') return { minimum: field.min, maximum: field.max }
  return {
    ...(field.format === undefined ? {} : { format: FORMATS[field.format] }),
    ...(field.pattern === undefined ? {} : patternRule(field.pattern)),
    ...(field.enum === undefined ? { maxLength: MAX_SETTING_LENGTH } : { enum: field.enum }),
    ...(field.secret ? { 'x-secret': true, 'x-field_type': 'SECRET' } : {}),
  }
}

/**
 * Converts a manifest's pattern. It is in RE2 syntax and matches the whole text. Some patterns cannot be
 * expressed in JSON Schema.
 */
function patternRule(pattern: string): JsonSchema {
  const whole =
    /^\^.*[^\\]\$$/s.test(pattern) && !pattern.includes('|') ? pattern : `^(?:${pattern})$`
  try {
    new RegExp(whole, 'u')
    return { pattern: whole }
  } catch {
    // Only the engine can tell whether the pattern is valid. The runtime still checks values against it.
    return { 'x-pattern': pattern }
  }
}
