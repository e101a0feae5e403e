/** What a browser reports of the pages that it shows: what their policy refused, and what it writes to its console. */
import type { Page } from 'playwright-core'

/**
 * Has the reports of a page put into a list. By the debugger, which hears of them without script on the page too.
 *
 * @param origin Whose pages they are of: what another system writes to its console is its own.
 */
export async function reportsOf(page: Page, into: string[], origin = ''): Promise<void> {
  page.on('pageerror', (error) => into.push(error.message))
  page.on('console', (message) => {
    if (!page.url().startsWith(origin)) return
    const isStatus = /the server responded with a status of 4/.test(message.text())
    if (message.type() === 'error' && !isStatus) into.push(message.text())
  })
  const session = await page.context().newCDPSession(page)
  session.on('Audits.issueAdded', ({ issue }) => {
    const refused = issue.details.contentSecurityPolicyIssueDetails
    if (refused) into.push(`${page.url()}: the policy refused ${JSON.stringify(refused)}`)
  })
  await session.send('Audits.enable')
}
