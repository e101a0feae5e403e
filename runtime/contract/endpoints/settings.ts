/** The settings of a host as its operator reads them: a row of OPERATOR_ENDPOINTS. */
import * as v from 'valibot'
import { row } from './operator-row.ts'

const describe = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }))

export const SettingInForce = v.pipe(
  v.strictObject({
    name: describe(v.string(), 'The variable of the environment'),
    meaning: v.string(),
    secret: describe(v.boolean(), 'Whether it is a secret, or may hold one'),
    source: describe(
      v.picklist(['environment', 'default', 'derived']),
      'Where what is in force comes from; derived: from the address, the database, the machine, or generated',
    ),
    value: describe(v.nullable(v.string()), 'What is in force; null for a secret'),
    set: describe(v.boolean(), 'Whether there is anything'),
  }),
  v.metadata({ title: 'SettingInForce' }),
)
export type SettingInForce = v.InferOutput<typeof SettingInForce>

export const SETTING_ENDPOINTS = {
  list_settings: row({
    method: 'GET',
    path: '/settings',
    summary: 'List the settings of this host with what is in force; secrets only as set or not',
    output: v.strictObject({ items: v.array(SettingInForce) }),
  }),
} as const
