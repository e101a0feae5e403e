/** CONSOLE_PAGES: pages of the console. CHANGES: changes, each with a page that asks and a form. */
import { MAX_PACKED_BYTES } from '../../connectors/packages/format.ts'
import type { Permission } from '../../contract/models/roles.ts'
import { PAGE_WORDS } from '../../words/page-words.ts'
import type { Form } from '../frame/form.ts'
import type { PageKind } from '../frame/page-deadline.ts'
import { type Place, SIDE } from '../frame/side.ts'
import { APP_CHANGES } from './app-changes.ts'
import { APP_EDITS } from './app-edits.ts'
import { showApp, showApps } from './apps.ts'
import { showBackground } from './background.ts'
import { showCall, showCalls } from './calls.ts'
import type { ChangeEnd, ConsoleChange } from './change.ts'
import {
  showConnect,
  showConnectForm,
  showReconnectForm,
  takeConnect,
  takeReconnect,
} from './connect.ts'
import { CALLBACK_PATH, CONNECT_PATH } from './connect-form.ts'
import { showConnector } from './connector.ts'
import { showConnectors } from './connectors.ts'
import { CONSENT_PATH, showConsent, takeCallback } from './consent.ts'
import { sendExpenses, sendIdleSeats, sendLicences, showCost } from './cost.ts'
import { COST_CHANGES } from './cost-changes.ts'
import { FINDING_CHANGES } from './finding-changes.ts'
import { GLASS_CHANGES } from './glass-changes.ts'
import { showHome } from './home.ts'
import { showInstall, takePackage } from './install.ts'
import { showLog } from './log.ts'
import type { Files } from './multipart.ts'
import { OFFBOARDING_CHANGES } from './offboarding-changes.ts'
import { OPERATOR_CHANGES } from './operator-changes.ts'
import { sendPersonEvidence, showPeople, showPerson } from './people.ts'
import { PEOPLE_CHANGES, sendRecord } from './people-changes.ts'
import { showPermissions } from './permissions.ts'
import { showPolicies, showPolicy } from './policies.ts'
import { POLICY_CHANGES } from './policy-changes.ts'
import { showNewPolicy, showPolicyEdit, takePolicy } from './policy-edit.ts'
import { showProbe, takeProbe } from './probe.ts'
import { showPublished, showRegistry, takePublished } from './published.ts'
import { REQUEST_CHANGES } from './request-changes.ts'
import { showRequests } from './requests.ts'
import { REVIEW_CHANGES } from './review-changes.ts'
import { decideLines } from './review-decide.ts'
import { MAX_READ_BYTES, showFileForm, takeFile } from './review-file.ts'
import { showNewReview, takeReview } from './review-launch.ts'
import { sendEvidence, showOwnReview, showReview, showReviews } from './reviews.ts'
import { endScimToken, showScimTokens, takeScimToken } from './scim-tokens.ts'
import { showSettings } from './settings.ts'
import { STORE_CHANGES } from './store-changes.ts'
import { endWaitingTokens, examineHost, showUpkeep, tryMail, UPKEEP_PATH } from './upkeep.ts'
import { showCompare, showGenerations, showPublishers, showVersion } from './versions.ts'
import type { ConsoleVisit } from './visit.ts'
import { WEBHOOK_CHANGES } from './webhook-changes.ts'
import { showWebhook, showWebhooks } from './webhooks.ts'

export type ConsolePage = {
  path: string
  /** Place whose permission opens it. Null for a page of the inbox, where the core decides. */
  place: Place | null
  /** For a page with a form: the permission in addition to that of the place. Null if the core decides. */
  who?: Permission | null
  /** `work` for a page that requests another system, or creates a file of many rows. */
  kind?: PageKind
  shows: string
  show(visit: ConsoleVisit): Promise<Response>
}

export const CONSOLE_PAGES = {
  home: { path: SIDE.home.path, place: 'home', shows: 'what needs attention', show: showHome },
  connectors: {
    path: SIDE.connectors.path,
    ...{ place: 'connectors', shows: 'all connectors', show: showConnectors },
  },
  connector: {
    path: '/console/connectors/:connector_id',
    ...{ place: 'connectors', shows: 'one connector', show: showConnector },
  },
  calls: {
    path: '/console/connectors/:connector_id/calls',
    ...{ place: 'connectors', shows: 'the latest calls of a connector', show: showCalls },
  },
  call: {
    path: '/console/connectors/:connector_id/calls/:request_id',
    ...{ place: 'connectors', shows: 'the timeline of a call', show: showCall },
  },
  probe: {
    path: '/console/connectors/:connector_id/probe',
    ...{
      place: 'connectors',
      who: 'operator',
      shows: 'the credentials that new versions are tried with',
    },
    show: showProbe,
  },
  version: {
    path: '/console/connectors/:connector_id/versions/:digest',
    ...{ place: 'connectors', shows: 'a stored version', show: showVersion },
  },
  install: {
    path: '/console/install',
    ...{ place: 'connectors', shows: 'the form to upload a package', show: showInstall },
  },
  registry: {
    path: '/console/registry',
    ...{ place: 'connectors', shows: 'published connectors', show: showRegistry },
  },
  published: {
    path: '/console/registry/:published_id',
    ...{ place: 'connectors', who: 'operator', shows: 'one published connector' },
    show: showPublished,
  },
  generations: {
    path: '/console/generations',
    ...{ place: 'connectors', shows: 'the history of the installation', show: showGenerations },
  },
  compare: {
    path: '/console/generations/compare',
    ...{ place: 'connectors', shows: 'the differences between two generations' },
    show: showCompare,
  },
  publishers: {
    path: '/console/publishers',
    ...{ place: 'connectors', shows: 'trusted publishers', show: showPublishers },
  },
  apps: { path: SIDE.apps.path, place: 'apps', shows: 'all apps', show: showApps },
  connect: {
    path: CONNECT_PATH,
    ...{
      place: 'apps',
      who: 'apps.write',
      shows: 'systems that can be connected',
      show: showConnect,
    },
  },
  connect_form: {
    path: `${CONNECT_PATH}/:app_class_id`,
    ...{ place: 'apps', who: 'apps.write', shows: 'the form to connect an app' },
    show: showConnectForm,
  },
  consent: {
    path: CONSENT_PATH,
    ...{ place: 'apps', who: null, shows: 'the way to the consent for an app', show: showConsent },
  },
  consented: {
    path: CALLBACK_PATH,
    ...{
      place: 'apps',
      who: null,
      shows: 'the result of a consent',
      kind: 'work',
      show: takeCallback,
    },
  },
  reconnect: {
    path: '/console/apps/:app_id/connection',
    ...{ place: 'apps', who: null, shows: 'the connection of an app' },
    show: showReconnectForm,
  },
  app: { path: '/console/apps/:app_id', place: 'apps', shows: 'one app', show: showApp },
  permissions: {
    path: '/console/apps/:app_id/permissions',
    ...{ place: 'apps', shows: 'requestable permissions of an app', show: showPermissions },
  },
  people: { path: SIDE.people.path, place: 'people', shows: 'all people', show: showPeople },
  person_evidence: {
    path: '/console/people/:user_id/evidence',
    ...{ place: 'people', shows: 'the evidence of a person’s access, as a file' },
    kind: 'work',
    show: sendPersonEvidence,
  },
  person: {
    path: '/console/people/:user_id',
    ...{ place: 'people', shows: 'one person, and why they have each access', show: showPerson },
  },
  requests: {
    path: SIDE.requests.path,
    ...{ place: 'requests', shows: 'access requests by state', show: showRequests },
  },
  policies: {
    path: SIDE.policies.path,
    ...{ place: 'policies', shows: 'all policies', show: showPolicies },
  },
  new_policy: {
    path: '/console/policies/new',
    ...{ place: 'policies', who: 'policies.write', shows: 'a new policy', show: showNewPolicy },
  },
  policy_edit: {
    path: '/console/policies/:access_policy_id/edit',
    ...{ place: 'policies', who: 'policies.write', shows: 'the form to change a policy' },
    show: showPolicyEdit,
  },
  policy: {
    path: '/console/policies/:access_policy_id',
    ...{ place: 'policies', shows: 'one policy', show: showPolicy },
  },
  reviews: { path: SIDE.reviews.path, place: 'reviews', shows: 'all reviews', show: showReviews },
  new_review: {
    path: '/console/reviews/new',
    ...{ place: 'reviews', who: 'reviews.write', shows: 'the form to launch a review' },
    show: showNewReview,
  },
  evidence: {
    path: '/console/reviews/:access_review_id/evidence',
    ...{
      place: 'reviews',
      shows: 'the evidence of a review, as a file',
      kind: 'work',
      show: sendEvidence,
    },
  },
  review: {
    path: '/console/reviews/:access_review_id',
    ...{ place: 'reviews', shows: 'all lines of a review', show: showReview },
  },
  own_review: {
    path: '/inbox/reviews/:access_review_id',
    ...{ place: null, shows: 'the lines that the user reviews', show: showOwnReview },
  },
  line_file: {
    path: '/inbox/reviews/:access_review_id/lines/:item_id/file',
    ...{
      place: null,
      shows: 'the form to attach a file to a line of a review',
      show: showFileForm,
    },
  },
  cost: { path: SIDE.cost.path, place: 'cost', shows: 'the costs of apps', show: showCost },
  licences_csv: {
    path: '/console/cost/licences.csv',
    ...{ place: 'cost', shows: 'licences, as CSV', kind: 'work', show: sendLicences },
  },
  idle_seats_csv: {
    path: '/console/cost/idle-seats.csv',
    ...{
      place: 'cost',
      shows: 'unused seats, as CSV',
      kind: 'work',
      show: sendIdleSeats,
    },
  },
  expenses_csv: {
    path: '/console/cost/expenses.csv',
    ...{ place: 'cost', shows: 'expenses, as CSV', kind: 'work', show: sendExpenses },
  },
  scim_tokens: {
    path: SIDE.scim.path,
    ...{ place: 'scim', shows: 'tokens of identity providers', show: showScimTokens },
  },
  webhooks: {
    path: SIDE.webhooks.path,
    ...{ place: 'webhooks', shows: 'inline webhooks', show: showWebhooks },
  },
  webhook: {
    path: '/console/webhooks/:webhook_id',
    ...{ place: 'webhooks', shows: 'one webhook', show: showWebhook },
  },
  background: {
    path: SIDE.background.path,
    ...{ place: 'background', shows: 'jobs and hosts', show: showBackground },
  },
  upkeep: {
    path: UPKEEP_PATH,
    ...{ place: 'background', shows: 'what needs to be done on a host', show: showUpkeep },
  },
  settings: {
    path: SIDE.settings.path,
    ...{ place: 'settings', shows: 'the settings of this host', show: showSettings },
  },
  log: { path: SIDE.log.path, place: 'log', shows: 'the activity log', show: showLog },
} as const satisfies Record<string, ConsolePage>

export const CHANGES: Readonly<Record<string, ConsoleChange>> = {
  ...OPERATOR_CHANGES,
  ...APP_CHANGES,
  ...APP_EDITS,
  ...STORE_CHANGES,
  ...PEOPLE_CHANGES,
  ...OFFBOARDING_CHANGES,
  ...WEBHOOK_CHANGES,
  ...POLICY_CHANGES,
  ...REQUEST_CHANGES,
  ...REVIEW_CHANGES,
  ...COST_CHANGES,
  ...FINDING_CHANGES,
  ...GLASS_CHANGES,
}

/** CONSOLE_FORMS: forms without a page that asks first. */
export const CONSOLE_FORMS = {
  decided: {
    path: '/inbox/reviews/:access_review_id/decide',
    ...{ place: null, who: null, take: decideLines, done: PAGE_WORDS.lines_saved },
  },
  'review-launched': {
    path: '/console/reviews/new',
    ...{ place: 'reviews', who: 'reviews.write', take: takeReview },
    done: (t) => t.console.review_launch.done,
  },
  'policy-made': {
    path: '/console/policies/new',
    ...{ place: 'policies', who: 'policies.write', take: takePolicy },
    done: (t) => t.console.policy_edit.saved,
  },
  'policy-saved': {
    path: '/console/policies/:access_policy_id/edit',
    ...{ place: 'policies', who: 'policies.write', take: takePolicy },
    done: (t) => t.console.policy_edit.saved,
  },
  'app-connected': {
    path: `${CONNECT_PATH}/:app_class_id`,
    ...{ place: 'apps', who: 'apps.write', take: takeConnect },
    done: (t) => t.console.connect.done,
  },
  'app-reconnected': {
    path: '/console/apps/:app_id/connection',
    ...{ place: 'apps', who: null, take: takeReconnect },
    done: (t) => t.console.connect.changed,
  },
  'scim-token-made': {
    path: SIDE.scim.path,
    ...{ place: 'scim', who: 'scim.write', take: takeScimToken, done: PAGE_WORDS.saved },
  },
  'scim-token-ended': {
    path: `${SIDE.scim.path}/:scim_token_id/end`,
    ...{ place: 'scim', who: 'scim.write', take: endScimToken, done: PAGE_WORDS.scim_ended },
  },
  'probe-kept': {
    path: '/console/connectors/:connector_id/probe',
    ...{ place: 'connectors', who: 'operator', take: takeProbe, done: PAGE_WORDS.probe_kept },
  },
  'published-kept': {
    path: '/console/registry/:published_id',
    ...{ place: 'connectors', who: 'operator', take: takePublished },
    done: PAGE_WORDS.published_kept,
  },
  'mail-tried': {
    path: `${UPKEEP_PATH}/mail`,
    ...{ place: 'background', who: 'operator', take: tryMail, done: PAGE_WORDS.saved },
  },
  examined: {
    path: `${UPKEEP_PATH}/examine`,
    ...{ place: 'background', who: 'operator', take: examineHost, done: PAGE_WORDS.saved },
  },
  'waiting-tokens-ended': {
    path: `${UPKEEP_PATH}/end-tokens`,
    ...{ place: 'background', who: 'operator', take: endWaitingTokens },
    done: PAGE_WORDS.rotation_ended,
  },
  'record-taken': {
    path: '/console/people/:user_id/export',
    ...{ place: 'people', who: 'operator', take: sendRecord, done: PAGE_WORDS.saved },
  },
} as const satisfies Record<string, ConsoleForm>

export type ConsoleForm = {
  path: string
  /** Place whose permission is required. Null if the core decides. */
  place: Place | null
  /** Required permission. Null if the core decides. */
  who: Permission | null
  done: ChangeEnd
  take(visit: ConsoleVisit, form: Form): Promise<Response>
}

/** CONSOLE_UPLOADS: forms with files. The permission is checked before a file is read. */
export const CONSOLE_UPLOADS = {
  uploaded: {
    path: '/console/install',
    ...{ place: 'connectors', who: 'operator', maxFileBytes: MAX_PACKED_BYTES },
    ...{ take: takePackage, done: (t) => t.console.install.done },
  },
  'file-attached': {
    path: '/inbox/reviews/:access_review_id/lines/:item_id/file',
    ...{ place: null, who: null, maxFileBytes: MAX_READ_BYTES },
    ...{ take: takeFile, done: PAGE_WORDS.file_attached },
  },
} as const satisfies Record<
  string,
  {
    path: string
    /** Null if the core decides; the same holds for the permission. */
    place: Place | null
    who: Permission | null
    maxFileBytes: number
    done: ChangeEnd
    take(visit: ConsoleVisit, form: Form, files: Files): Promise<Response>
  }
>
