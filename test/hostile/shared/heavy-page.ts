/**
 * Lists in pages and computes for 60 ms in one of the middle pages, where another isolate may have to
 * continue. Promise 1.
 * Must happen: every page is returned once; the sequence continues where it stopped.
 */
import { defineConnector, paged } from 'keyway/sdk'

const spin = (ms: number) => {
  const endMs = Date.now() + ms
  while (Date.now() < endMs);
}

const PAGES = 12

export default defineConnector({
  list_accounts(_request, ctx) {
    const page = Number(ctx.page.cursor ?? 0)
    if (page % 5 === 4) spin(60)
    const accounts = [{ integration_specific_id: `a${page}` }]
    return page + 1 === PAGES ? accounts : paged(accounts, page + 1)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
