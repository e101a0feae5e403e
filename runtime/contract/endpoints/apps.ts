/** Apps and integrations: core-interface.md section 1.4. */
import { AppWithCustomAttributes, CONNECTION_SOURCES } from '../models/app.ts'
import { endpoint } from './endpoint.ts'
import { bool, oneOf, pageParams, text, texts } from './params.ts'

const apps = endpoint('Apps')

const expand = texts().describe('custom_attributes')

export const APP_ENDPOINTS = {
  list_apps: apps({
    method: 'GET',
    path: '/apps',
    summary: 'List apps, by name',
    who: 'caller',
    query: {
      name_search: text().describe('A part of the name'),
      exact_match: bool(false).describe('Whether the whole text must match'),
      connection_source: oneOf(CONNECTION_SOURCES).describe('How they were connected'),
      disconnected: bool(null).describe('Only disconnected ones, or only the others'),
      expand,
      ...pageParams,
    },
    answer: 'page',
    output: AppWithCustomAttributes,
  }),
  get_app: apps({
    method: 'GET',
    path: '/apps/:app_id',
    summary: 'Read an app',
    who: 'caller',
    query: { expand },
    output: AppWithCustomAttributes,
  }),
} as const
