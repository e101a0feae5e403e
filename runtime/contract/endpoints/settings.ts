/** The settings of a host for its operator: a row of OPERATOR_ENDPOINTS. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

export const SettingInForce = strictObject('SettingInForce', {
  name: described(v.string(), 'Environment variable'),
  meaning: v.string(),
  secret: described(v.boolean(), 'Whether it is a secret, or may contain one'),
  source: described(
    v.picklist(['environment', 'default', 'derived']),
    'Source of the effective value; derived: from the address, the database or the machine, or generated',
  ),
  value: described(v.nullable(v.string()), 'The effective value; null for a secret'),
  set: described(v.boolean(), 'Whether it has a value'),
})
export type SettingInForce = v.InferOutput<typeof SettingInForce>

export const SETTING_ENDPOINTS = {
  list_settings: row.get('/settings', {
    summary:
      'List the settings of this host with their effective values; for secrets only whether they are set',
    output: v.strictObject({ items: v.array(SettingInForce) }),
  }),
} as const
