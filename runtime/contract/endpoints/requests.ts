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
import { manyOf, pageParams, text, texts } from './params.ts'

const requests = endpoint('AccessRequests')

const expand = texts().describe('tasks, custom_fields')

export const REQUEST_ENDPOINTS = {
  create_access_request: requests.post('/appstore/access_request', {
    summary: 'Ask for access: to an app, or to permissions within it (one request of each)',
    who: 'caller',
    body: CreateAccessRequestInput,
    output: v.array(AccessRequest),
    status: 201,
  }),
  list_access_requests: requests.get('/appstore/access_requests', {
    summary: 'List the caller’s access requests; for admins everybody’s',
    who: 'caller',
    query: {
      target_user_id: text().describe('Who is to have it'),
      requester_user_id: text().describe('Who asked; another than the caller is for admins'),
      user_id: text().describe('Who asked or is to have it'),
      statuses: manyOf(REQUEST_STATUSES).describe('Only those in one of these states'),
      sort: text().describe('ASC or DESC, by when they were made'),
      expand,
      ...pageParams,
    },
    answer: 'page',
    output: AccessRequest,
  }),
  get_access_request: requests.get('/appstore/access_requests/:access_request_id', {
    summary: 'Read an access request',
    who: 'caller',
    query: { expand },
    output: AccessRequest,
  }),
  cancel_access_request: requests.delete('/appstore/access_requests/:access_request_id', {
    summary: 'Take an access request back while it is pending',
    who: 'caller',
    query: { reason: text().describe('Why; it is noted') },
  }),
  give_back_access: requests.post('/appstore/access_requests/:access_request_id/give_back', {
    summary: 'Give back access that was asked for, before its time: by who holds it',
    who: 'caller',
    errors: [403, 404, 409],
  }),
  revoke_access: requests.post('/appstore/access_requests/:access_request_id/revoke', {
    summary:
      'End what a request granted, at once: by an admin, or an admin of its app. Requests that give the person the same end with it',
    who: 'caller',
    body: RevokeAccessInput,
    errors: [403, 404, 409],
  }),
  remind_approvers: requests.post('/appstore/access_requests/:access_request_id/remind', {
    summary: 'Remind those who decide now, a day after they were asked and then once a day',
    who: 'caller',
    body: AddCommentInput,
    errors: [403, 404, 409],
  }),
  get_request_outlook: requests.get('/appstore/apps/:app_id/request_outlook', {
    summary: 'Read what would happen if the caller asked for an app, or a permission of it, now',
    who: 'caller',
    query: {
      requestable_permission_id: text().describe('Absent: the app itself'),
      target_user_id: text().describe('Who is to have it. Absent: the caller'),
    },
    output: RequestOutlook,
    errors: [404],
  }),
  list_request_outlooks: requests.get('/appstore/request_outlooks', {
    summary:
      'Read the same of several apps and permissions; those that the caller does not find are left out',
    who: 'caller',
    query: {
      app_ids: texts().describe(`Apps; at most ${MAX_OUTLOOKS} with the permissions`),
      requestable_permission_ids: texts().describe('Permissions, of whichever apps'),
      target_user_id: text().describe('Who is to have it. Absent: the caller'),
    },
    output: v.array(RequestOutlook),
  }),
} as const
