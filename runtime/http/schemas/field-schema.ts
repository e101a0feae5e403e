/** Fields that a manifest declares (settings, extra fields of a request) as JSON Schema. */
import { type Field, type Fields, MAX_SETTING_LENGTH } from '../../contract/connector/settings.ts'
import { type JsonSchema, tidy } from './tidy.ts'

const FORMATS = { url: 'uri', hostname: 'hostname', email: 'email' } as const

/** The JSON Schema of one declared field. */
export function fieldSchema(field: Field): JsonSchema {
  const { title, help: description, default: value } = field
  return tidy({ title, description, default: value, type: field.type, ...rulesOf(field) })
}

/** The JSON Schema of the object that holds these fields, with `field_order` for forms. */
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

/** Manifests' patterns are of RE2 and match the whole text; some cannot be said in JSON Schema. */
function patternRule(pattern: string): JsonSchema {
  const whole =
    /^\^.*[^\\]\$$/s.test(pattern) && !pattern.includes('|') ? pattern : `^(?:${pattern})$`
  try {
    new RegExp(whole, 'u')
    return { pattern: whole }
  } catch {
    // The answer itself: the engine is the only judge. The runtime still holds values to the pattern.
    return { 'x-pattern': pattern }
  }
}
