/** Apps and integrations: core-interface.md section 1.4. */
import * as v from 'valibot'
import {
  APP_SORTS,
  App,
  AppInputCreate,
  AppInputPut,
  AppInputUpdate,
  AppWithCustomAttributes,
  CONNECTION_SOURCES,
  DisconnectIntegrationOutput,
  IntegrationCatalogOutput,
  IntegrationConnectionSchemaOutput,
} from '../models/app.ts'
import { CATEGORIES } from '../models/categories.ts'
import { TriggerSyncInput, TriggerSyncOutput } from '../models/sync.ts'
import { endpoint } from './endpoint.ts'
import { bool, oneOf, text, texts } from './params.ts'

const apps = endpoint('Apps')
const integrations = endpoint('Integrations')

const expand = texts().describe('custom_attributes')

export const APP_ENDPOINTS = {
  list_apps: apps.page('/apps', {
    summary: 'List apps, by name',
    who: 'caller',
    query: {
      name_search: text().describe('Part of the name'),
      exact_match: bool(false).describe('Whether the whole text must match'),
      connection_source: oneOf(CONNECTION_SOURCES).describe('Only apps connected in this way'),
      disconnected: bool(null).describe('Only disconnected apps, or only connected ones'),
      sort: oneOf(APP_SORTS).describe('Sort order; a leading minus reverses it'),
      expand,
    },
    output: AppWithCustomAttributes,
  }),
  create_app: apps.post('/apps', {
    summary: 'Connect an integration, or create a custom app if app_class_id is absent',
    who: 'apps.write',
    body: AppInputCreate,
    output: App,
    errors: [501, 502],
  }),
  // Before `get_app`, whose id would match this path, too.
  list_app_categories: apps.get('/apps/categories', {
    summary: 'List the categories that an app may have',
    who: 'caller',
    output: v.array(v.picklist(CATEGORIES)),
  }),
  get_app: apps.get('/apps/:app_id', {
    summary: 'Read an app',
    who: 'caller',
    query: { expand },
    output: AppWithCustomAttributes,
  }),
  update_app: apps.patch('/apps/:app_id', {
    summary: 'Change the displayed data of an app; null restores the default',
    who: 'caller',
    body: AppInputUpdate,
    output: App,
  }),
  put_app: apps.put('/apps/:app_id', {
    summary:
      'Change the displayed data of an app, or connect it again; a custom app needs only app_class_id',
    who: 'apps.write',
    body: AppInputPut,
    output: App,
    errors: [501, 502],
  }),
  disconnect_app: apps.delete('/apps/:app_id', {
    summary: 'Disconnect an app; its credentials are destroyed, its record is kept',
    who: 'apps.write',
    output: DisconnectIntegrationOutput,
  }),
  sync_app: apps.post('/apps/:app_id/sync', {
    summary: 'Start a sync of an app; follow sync_status of the app',
    who: 'caller',
    body: TriggerSyncInput,
    output: TriggerSyncOutput,
    status: 202,
    errors: [501],
  }),
  list_integrations: integrations.page('/integrations', {
    summary: 'List the integrations that can be connected',
    who: 'caller',
    query: { query: text().describe('Part of the id or the name') },
    output: IntegrationCatalogOutput,
  }),
  get_integration: integrations.get('/integrations/:app_class_id', {
    summary: 'Read an integration that can be connected',
    who: 'caller',
    output: IntegrationCatalogOutput,
  }),
  get_connection_schema: integrations.get('/integrations/:app_class_id/connection-schema', {
    summary: 'Read the JSON Schemas of auth and settings for connecting an integration',
    who: 'caller',
    output: IntegrationConnectionSchemaOutput,
  }),
} as const
