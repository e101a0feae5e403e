/** Collects reports of a browser about pages: policy violations and console errors. */
import type { Page } from 'playwright-core'

/**
 * Adds the reports of a page to a list. Uses the debugger, which also works without script on the page.
 *
 * @param origin Only reports of pages of this origin count; other systems are not under test.
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
