/** Access requests: core-interface.md section 1.9. */
import * as v from 'valibot'
import {
  AccessRequest,
  CreateAccessRequestInput,
  REQUEST_STATUSES,
  RevokeAccessInput,
} from '../models/access-request.ts'
import { MAX_OUTLOOKS, RequestOutlook } from '../models/asking.ts'
import { AddCommentInput } from '../models/task.ts'
import { endpoint } from './endpoint.ts'
import { manyOf, text, texts } from './params.ts'

const requests = endpoint('AccessRequests')

const expand = texts().describe('tasks, custom_fields')

export const REQUEST_ENDPOINTS = {
  create_access_request: requests.post('/appstore/access_request', {
    summary: 'Request access to an app, or to permissions of it (one request for each)',
    who: 'caller',
    body: CreateAccessRequestInput,
    output: v.array(AccessRequest),
    status: 201,
  }),
  list_access_requests: requests.page('/appstore/access_requests', {
    summary: 'List the caller’s access requests; for admins all requests',
    who: 'caller',
    query: {
      target_user_id: text().describe('User who gets the access'),
      requester_user_id: text().describe(
        'User who requested it; only admins may name another user',
      ),
      user_id: text().describe('User who requested the access or gets it'),
      statuses: manyOf(REQUEST_STATUSES).describe('Only requests in one of these states'),
      sort: text().describe('ASC or DESC, by creation time'),
      expand,
    },
    output: AccessRequest,
  }),
  get_access_request: requests.get('/appstore/access_requests/:access_request_id', {
    summary: 'Read an access request',
    who: 'caller',
    query: { expand },
    output: AccessRequest,
  }),
  cancel_access_request: requests.delete('/appstore/access_requests/:access_request_id', {
    summary: 'Cancel an access request while it is pending',
    who: 'caller',
    query: { reason: text().describe('Reason; it is recorded') },
  }),
  give_back_access: requests.post('/appstore/access_requests/:access_request_id/give_back', {
    summary: 'Give back requested access before it ends; only its holder may',
    who: 'caller',
    errors: [403, 404, 409],
  }),
  revoke_access: requests.post('/appstore/access_requests/:access_request_id/revoke', {
    summary:
      'End the access of a request at once, as an admin or an admin of its app. Other requests that grant the person the same access end with it',
    who: 'caller',
    body: RevokeAccessInput,
    errors: [403, 404, 409],
  }),
  remind_approvers: requests.post('/appstore/access_requests/:access_request_id/remind', {
    summary: 'Remind the current approvers, from a day after they were asked, at most once a day',
    who: 'caller',
    body: AddCommentInput,
    errors: [403, 404, 409],
  }),
  get_request_outlook: requests.get('/appstore/apps/:app_id/request_outlook', {
    summary: 'Preview a request of the caller for an app, or for a permission of it',
    who: 'caller',
    query: {
      requestable_permission_id: text().describe('Absent: the app itself'),
      target_user_id: text().describe('User who gets the access. Absent: the caller'),
    },
    output: RequestOutlook,
    errors: [404],
  }),
  list_request_outlooks: requests.get('/appstore/request_outlooks', {
    summary:
      'Preview requests for several apps and permissions; those that the caller cannot see are left out',
    who: 'caller',
    query: {
      app_ids: texts().describe(`Apps; at most ${MAX_OUTLOOKS} with the permissions`),
      requestable_permission_ids: texts().describe('Permissions, of any apps'),
      target_user_id: text().describe('User who gets the access. Absent: the caller'),
    },
    output: v.array(RequestOutlook),
  }),
} as const
