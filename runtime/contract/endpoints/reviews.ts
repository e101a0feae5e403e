/** Access reviews: core-interface.md section 1.12, followed by endpoints for what it leaves open. */
import * as v from 'valibot'
import {
  AccessReviewDomainAppInput,
  AccessReviewOutput,
  AddAppsInput,
  AddAppsOutput,
  CreateAccessReviewInput,
  CreateAccessReviewOutput,
  REVIEW_SORTS,
  UpdateAccessReviewInput,
} from '../models/access-review.ts'
import { EvidenceFile } from '../models/evidence-file.ts'
import {
  AccessReviewItem,
  AccessReviewProgress,
  AccessReviewSettings,
  AccessReviewSettingsInput,
  DecideInput,
  DecideOutput,
  HINT_NAMES,
  ITEM_STATES,
  ReassignItemInput,
} from '../models/review-item.ts'
import {
  MAX_FILTERS,
  ScopeFilter,
  ScopeOptionsResponse,
  ScopePreview,
} from '../models/review-scope.ts'
import { AccessReviewUpload, AccessReviewUploadInput } from '../models/review-upload.ts'
import { described, strictObject } from '../schema/schemas.ts'
import { endpoint } from './endpoint.ts'
import { listIn } from './json-param.ts'
import { bool, manyOf, oneOf, text } from './params.ts'

const reviews = endpoint('AccessReviews')
const ONE = '/access_reviews/:access_review_id'

export const REVIEW_ENDPOINTS = {
  create_access_review: reviews.post('/access_reviews', {
    summary: 'Create an access review; if it has apps, preparation starts at once',
    who: 'reviews.write',
    body: CreateAccessReviewInput,
    output: CreateAccessReviewOutput,
    status: 201,
    errors: [400, 404],
  }),
  list_access_reviews: reviews.page('/access_reviews', {
    summary: 'List access reviews, newest first',
    who: 'reviews.read',
    query: {
      sort: oneOf(REVIEW_SORTS).describe('Sort order; a leading minus reverses it'),
    },
    output: AccessReviewOutput,
  }),
  // Before the endpoints of one review, which would take it for an id.
  list_access_review_scope_options: reviews.get('/access_reviews/scope_options', {
    summary: 'List the filters that the scope of an app can have',
    who: 'reviews.read',
    query: {
      domain_app_id: text().describe('Id of the app'),
      arda_id: text().describe('Alternatively, id of the app within a review'),
    },
    output: ScopeOptionsResponse,
    errors: [404],
  }),
  preview_access_review_scope: reviews.post('/access_reviews/scope_preview', {
    summary: 'Count the lines that a scope would select; creates nothing',
    who: 'reviews.write',
    body: AccessReviewDomainAppInput,
    output: ScopePreview,
    errors: [400, 404],
  }),
  add_access_review_apps: reviews.post(`${ONE}/apps`, {
    summary: 'Add apps to a review; problems with individual apps are in errors',
    who: 'reviews.write',
    body: AddAppsInput,
    output: AddAppsOutput,
    status: 201,
    errors: [400, 404],
  }),
  delete_access_review: reviews.delete(ONE, {
    summary: 'Delete a review; its decisions stay on record and are no longer carried out',
    who: 'reviews.write',
    errors: [400, 404],
  }),
  get_access_review: reviews.get(ONE, {
    summary: 'Read an access review',
    who: 'reviews.read',
    output: AccessReviewOutput,
    errors: [404],
  }),
  update_access_review: reviews.patch(ONE, {
    summary: 'Change a review, or the scope of its apps before they are launched',
    who: 'reviews.write',
    body: UpdateAccessReviewInput,
    output: AccessReviewOutput,
    errors: [400, 404],
  }),
  remove_access_review_app: reviews.delete(`${ONE}/apps/:arda_id`, {
    summary: 'Remove an app from a review',
    who: 'reviews.write',
    errors: [400, 404],
  }),
  get_access_review_settings: reviews.get(`${ONE}/settings`, {
    summary: 'Read the reviewers, and the effect of the deadline',
    who: 'reviews.read',
    output: AccessReviewSettings,
    errors: [404],
  }),
  put_access_review_settings: reviews.put(`${ONE}/settings`, {
    summary: 'Set the reviewers of apps launched from now on, and the effect of the deadline',
    who: 'reviews.write',
    body: AccessReviewSettingsInput,
    output: AccessReviewSettings,
    errors: [400, 404],
  }),
  list_access_review_items: reviews.page(`${ONE}/items`, {
    summary: 'List the lines of a review; without the right to read reviews, only the caller’s own',
    who: 'caller',
    query: {
      mine: bool(false).describe('Only lines that the caller has to decide'),
      arda_id: text().describe('Only lines of this app within the review'),
      state: manyOf(ITEM_STATES).describe('Only lines in one of these states'),
      hint: manyOf(HINT_NAMES).describe('Only lines with one of these hints'),
      user_id: text().describe('Only lines of this person'),
      entitlement_id: text().describe('Only lines of this entitlement'),
      search: text().describe('Part of the account, the address or the label'),
      scope_filters: listIn(ScopeFilter, MAX_FILTERS).describe(
        'Only lines that match these scope filters, as JSON: at least one filter of each group',
      ),
    },
    output: AccessReviewItem,
    errors: [400, 404],
  }),
  decide_access_review_items: reviews.post(`${ONE}/items/decide`, {
    summary: 'Keep, reject or request changes to lines that the caller reviews',
    who: 'caller',
    body: DecideInput,
    output: DecideOutput,
    errors: [400, 403, 404, 409],
  }),
  reassign_access_review_item: reviews.post(`${ONE}/items/:item_id/reassign`, {
    summary: 'Assign a line to other reviewers',
    who: 'caller',
    body: ReassignItemInput,
    output: AccessReviewItem,
    errors: [400, 403, 404, 409],
  }),
  start_access_review_removal: reviews.post(`${ONE}/apps/:arda_id/start-removal`, {
    summary: 'Close the decisions of an app and remove rejected access',
    who: 'reviews.write',
    errors: [404, 409],
  }),
  complete_access_review: reviews.post(`${ONE}/complete`, {
    summary: 'Close the decisions of a review; undecided lines end as NOT_DECIDED',
    who: 'reviews.write',
    output: AccessReviewOutput,
    errors: [404, 409],
  }),
  get_access_review_progress: reviews.get(`${ONE}/progress`, {
    summary: 'Read the progress of a review: its populations, reviewers and lines by state',
    who: 'reviews.read',
    output: AccessReviewProgress,
    errors: [404],
  }),
  get_access_review_evidence: reviews.get(`${ONE}/evidence`, {
    summary: 'Download signed evidence of a review, even while decisions are being made',
    who: 'reviews.read',
    answer: 'file',
    output: EvidenceFile,
    errors: [404],
  }),
  upload_access_review_evidence: reviews.post(`${ONE}/evidence/uploads`, {
    summary:
      'Attach a file to lines that the caller reviews or removes; it becomes part of the evidence',
    who: 'caller',
    body: AccessReviewUploadInput,
    output: AccessReviewUpload,
    status: 201,
    errors: [400, 403, 404, 409],
  }),
  list_access_review_uploads: reviews.page(`${ONE}/evidence/uploads`, {
    summary: 'List the files attached to a review, oldest first',
    who: 'reviews.read',
    output: AccessReviewUpload,
    errors: [404],
  }),
  get_evidence_keys: reviews.get('/.well-known/keyway-evidence-keys', {
    summary: 'List the keys that sign evidence of this deployment, newest first',
    who: 'anybody',
    output: strictObject('EvidenceKeys', {
      keys: v.array(
        v.strictObject({
          public_key: described(v.string(), 'Ed25519, 64 hex digits'),
          fingerprint: described(v.string(), 'SHA-256 of its SubjectPublicKeyInfo in DER'),
        }),
      ),
    }),
  }),
} as const
