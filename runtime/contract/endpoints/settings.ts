/** The settings of a host as its operator reads them: a row of OPERATOR_ENDPOINTS. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

export const SettingInForce = strictObject('SettingInForce', {
  name: described(v.string(), 'The variable of the environment'),
  meaning: v.string(),
  secret: described(v.boolean(), 'Whether it is a secret, or may hold one'),
  source: described(
    v.picklist(['environment', 'default', 'derived']),
    'Where what is in force comes from; derived: from the address, the database, the machine, or generated',
  ),
  value: described(v.nullable(v.string()), 'What is in force; null for a secret'),
  set: described(v.boolean(), 'Whether there is anything'),
})
export type SettingInForce = v.InferOutput<typeof SettingInForce>

export const SETTING_ENDPOINTS = {
  list_settings: row.get('/settings', {
    summary: 'List the settings of this host with what is in force; secrets only as set or not',
    output: v.strictObject({ items: v.array(SettingInForce) }),
  }),
} as const
