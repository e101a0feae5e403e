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
import { bool, oneOf, pageParams, text, texts } from './params.ts'

const apps = endpoint('Apps')
const integrations = endpoint('Integrations')

const expand = texts().describe('custom_attributes')

export const APP_ENDPOINTS = {
  list_apps: apps.get('/apps', {
    summary: 'List apps, by name',
    who: 'caller',
    query: {
      name_search: text().describe('A part of the name'),
      exact_match: bool(false).describe('Whether the whole text must match'),
      connection_source: oneOf(CONNECTION_SOURCES).describe('How they were connected'),
      disconnected: bool(null).describe('Only disconnected ones, or only the others'),
      sort: oneOf(APP_SORTS).describe('The order; a minus turns it round'),
      expand,
      ...pageParams,
    },
    answer: 'page',
    output: AppWithCustomAttributes,
  }),
  create_app: apps.post('/apps', {
    summary: 'Connect an integration, or without app_class_id make a custom app',
    who: 'apps.write',
    body: AppInputCreate,
    output: App,
    errors: [501, 502],
  }),
  // Before the id that would match it as well.
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
    summary: 'Change what is shown of an app; null sets back to the default',
    who: 'caller',
    body: AppInputUpdate,
    output: App,
  }),
  put_app: apps.put('/apps/:app_id', {
    summary: 'Change what is shown of an app, or connect it again: a custom app by its class alone',
    who: 'apps.write',
    body: AppInputPut,
    output: App,
    errors: [501, 502],
  }),
  disconnect_app: apps.delete('/apps/:app_id', {
    summary: 'Disconnect an app: its credentials are destroyed, its record stays',
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
  list_integrations: integrations.get('/integrations', {
    summary: 'List what can be connected',
    who: 'caller',
    query: { query: text().describe('A part of the id or the name'), ...pageParams },
    answer: 'page',
    output: IntegrationCatalogOutput,
  }),
  get_integration: integrations.get('/integrations/:app_class_id', {
    summary: 'Read what can be connected',
    who: 'caller',
    output: IntegrationCatalogOutput,
  }),
  get_connection_schema: integrations.get('/integrations/:app_class_id/connection-schema', {
    summary: 'What connecting asks for, as JSON Schemas of auth and settings',
    who: 'caller',
    output: IntegrationConnectionSchemaOutput,
  }),
} as const
