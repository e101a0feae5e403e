/** Which function answers which operator's endpoint of inline webhooks. */

import type { WEBHOOK_ENDPOINTS } from '../../contract/endpoints/webhooks.ts'
import * as manage from '../../core/webhooks/manage.ts'
import { tryWebhook } from '../../core/webhooks/smoke-test.ts'
import { toOperatorsWebhook } from '../../core/webhooks/view.ts'
import type { OperatorHandler } from './handler.ts'

type Handlers = { [N in keyof typeof WEBHOOK_ENDPOINTS]: OperatorHandler<N> }

export const WEBHOOK_HANDLERS: Handlers = {
  list_webhooks: ({ db, actor }) => manage.operatorsWebhooks(db, actor),
  create_webhook: ({ db, actor, parts }, { body }) => manage.createWebhook(db, actor, body, parts),
  show_webhook: async ({ db, actor }, { params }) =>
    toOperatorsWebhook(db, await manage.findWebhook(db, actor, id(params))),
  update_webhook: ({ db, actor, parts }, { params, body }) =>
    manage.updateWebhook(db, actor, id(params), body, parts),
  delete_webhook: ({ db, actor }, { params, query }) =>
    manage.deleteWebhook(db, actor, id(params), query.dry_run),
  renew_webhook_secret: ({ db, actor, parts }, { params, body }) =>
    manage.renewSecret(db, actor, id(params), body.dry_run, parts),
  test_webhook: ({ db, actor, parts }, { params }) => tryWebhook(db, actor, id(params), parts),
}

const id = (params: Record<string, string>): string => params['webhook_id'] ?? ''
