import { describe, expect, test } from 'vitest'
import { CONFIG_PLACES } from '../../../../runtime/core/catalogue/store/permission-view.ts'
import {
  type ReferencePlace,
  redactReferences,
} from '../../../../runtime/core/catalogue/store/references.ts'
import { SETTINGS_PLACES } from '../../../../runtime/core/catalogue/store/settings-view.ts'

type Json = { [member: string]: unknown }

/** Wraps a value in the objects and lists of a path. */
const at = ([step, ...rest]: readonly string[], value: unknown): unknown => {
  if (step === undefined) return value
  return step === '*' ? [at(rest, value)] : { [step]: at(rest, value) }
}

/** A document with a reference at one place. */
const documentOf = ({ path }: ReferencePlace, id: string): Json => ({
  ...(at(path, id) as Json),
  label: 'seen',
})

const PLACES = [...SETTINGS_PLACES, ...CONFIG_PLACES].map(
  (place) => [place.path.join('.'), place] as const,
)

describe.each(PLACES)('a reference at %s', (_, place) => {
  test('is shown to readers of the whole document, but not to requesters', () => {
    const document = documentOf(place, 'hidden')
    expect(redactReferences({ whole: true }, document, [place])).toEqual(document)
    const redacted = redactReferences({ whole: false }, document, [place])
    expect(redacted['label']).toBe('seen')
    expect(JSON.stringify(redacted)).not.toContain('hidden')
  })
})
