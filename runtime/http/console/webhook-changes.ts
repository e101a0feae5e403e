/** WEBHOOK_CHANGES: what is changed of webhooks, one row each. */
import type { About, Change } from './change.ts'
import { WEBHOOK_CHANGE_WORDS as WORDS } from './words/background.ts'

const of = (
  verb: 'enable' | 'disable',
): Pick<Change, 'path' | 'place' | 'who' | 'does' | 'reason' | 'back' | 'preview' | 'act'> => {
  const body = { enabled: verb === 'enable' }
  return {
    path: `/console/webhooks/:webhook_id/${verb}`,
    ...{ place: 'webhooks', who: 'operator', reason: 'none', does: `${verb}s a webhook` },
    back: () => '/console/webhooks',
    preview: async (visit, { params }: About) => ({
      lines: (await visit.ask('update_webhook', { params, body: { ...body, dry_run: true } }))
        .difference,
    }),
    act: async (visit, { params }: About) =>
      void (await visit.ask('update_webhook', { params, body })),
  }
}

export const WEBHOOK_CHANGES = {
  'enable-webhook': {
    ...of('enable'),
    title: () => WORDS.enable.title,
    button: WORDS.enable.button,
    done: WORDS.enable.done,
  },
  'disable-webhook': {
    ...of('disable'),
    title: () => WORDS.disable.title,
    lead: WORDS.disable.lead,
    button: WORDS.disable.button,
    done: WORDS.disable.done,
    danger: true,
  },
  'delete-webhook': {
    path: '/console/webhooks/:webhook_id/delete',
    ...{ place: 'webhooks', who: 'operator', reason: 'none', does: 'deletes a webhook' },
    title: () => WORDS.remove.title,
    lead: WORDS.remove.lead,
    button: WORDS.remove.button,
    done: WORDS.remove.done,
    danger: true,
    back: () => '/console/webhooks',
    preview: async (visit, { params }) => ({
      lines: (await visit.ask('delete_webhook', { params, query: { dry_run: 'true' } })).difference,
    }),
    act: async (visit, { params }) => void (await visit.ask('delete_webhook', { params })),
  },
} as const satisfies Record<string, Change>
