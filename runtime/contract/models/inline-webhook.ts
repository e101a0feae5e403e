/** Inline webhooks, as others refer to them: core-interface.md sections 1.11 and 2.2. */
import * as v from 'valibot'
import { nullable } from '../optional.ts'

export const INLINE_WEBHOOK_TYPES = [
  'PRE_APPROVAL',
  'PROVISION',
  'DEPROVISION',
  'REQUEST_VALIDATION',
  'SIEM',
] as const
export type InlineWebhookType = (typeof INLINE_WEBHOOK_TYPES)[number]

export const InlineWebhook = v.pipe(
  v.strictObject({
    id: v.string(),
    hook_type: v.picklist(INLINE_WEBHOOK_TYPES),
    name: v.string(),
    description: nullable(v.string()),
  }),
  v.metadata({ title: 'InlineWebhook', description: 'A call to a system of yours, at one point' }),
)
export type InlineWebhook = v.InferInput<typeof InlineWebhook>
