/** Apps in the app store, their settings, inline webhooks: core-interface.md sections 1.4, 1.6 and 1.11. */
import * as v from 'valibot'
import {
  AddAppToAppStoreInput,
  AppLeftStore,
  AppSettingInput,
  AppSettingOutput,
  AppStoreApp,
  AppStoreAppSettingsInput,
  AppStoreAppSettingsOutput,
} from '../models/app-store.ts'
import { InlineWebhook } from '../models/inline-webhook.ts'
import { endpoint } from './endpoint.ts'
import { bool, text, texts } from './params.ts'

const store = endpoint('AppStore')
const webhooks = endpoint('Webhooks')

const expand = texts().describe('custom_attributes')

export const APPSTORE_ENDPOINTS = {
  list_appstore_apps: store.page('/appstore/apps', {
    summary: 'List the apps of the app store that the caller can see, by name',
    who: 'caller',
    query: {
      app_id: text().describe('Only this app'),
      name_search: text().describe('Part of the name'),
      search_term: text().describe(
        'Part of the name, or of the label of a permission of the app that the caller can see',
      ),
      exact_match: bool(false).describe('Whether the whole text must match'),
      category: text().describe('Only apps of this category, by its name or its code'),
      all_visibilities: bool(false).describe(
        'Include hidden apps; requires the permission appstore.read',
      ),
      expand,
    },
    output: AppStoreApp,
  }),
  add_appstore_app: store.post('/appstore/apps', {
    summary: 'Add an app to the app store, with settings',
    who: 'caller',
    body: AddAppToAppStoreInput,
    output: AppStoreAppSettingsOutput,
  }),
  get_appstore_app: store.get('/appstore/apps/:app_id', {
    summary: 'Read an app of the app store',
    who: 'caller',
    query: { expand },
    output: AppStoreApp,
  }),
  remove_appstore_app: store.delete('/appstore/apps/:app_id', {
    summary: 'Remove an app and its settings from the app store; the app itself is kept',
    who: 'caller',
    output: AppLeftStore,
  }),
  get_appstore_app_settings: store.get('/appstore/apps/:app_id/settings', {
    summary: 'Read the request settings of an app in the store; requesters see the part they need',
    who: 'caller',
    output: AppStoreAppSettingsOutput,
  }),
  update_appstore_app_settings: store.patch('/appstore/apps/:app_id/settings', {
    summary: 'Change the given members; lists are replaced, null resets a member',
    who: 'caller',
    body: AppStoreAppSettingsInput,
    output: AppStoreAppSettingsOutput,
  }),
  get_app_settings: store.get('/apps/:app_id/settings', {
    summary: 'Read the store settings of any app, and whether it is in the store',
    who: 'caller',
    output: AppSettingOutput,
  }),
  update_app_settings: store.patch('/apps/:app_id/settings', {
    summary: 'Change the store settings of any app, and whether it is in the store',
    who: 'caller',
    body: AppSettingInput,
    output: AppSettingOutput,
  }),
  list_inline_webhooks: webhooks.get('/inline_webhooks', {
    summary: 'List inline webhooks, by name',
    who: 'caller',
    output: v.array(InlineWebhook),
  }),
} as const
