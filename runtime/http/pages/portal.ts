/** The frame of pages below My access: breadcrumbs, heading, the message of the last action. */
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AREAS, layout, type Markup } from '../frame/layout.ts'
import type { Visit } from './visit.ts'

type PortalPage = {
  title: string
  /** Heading, if it differs from the title. */
  heading?: string
  lead: string
  /** Area of the top bar; absent for pages outside it, such as the settings. */
  area?: 'access'
  content: Markup
  status?: ContentfulStatusCode
}

export async function answerPortal(visit: Visit, page: PortalPage): Promise<Response> {
  const { c, t } = visit
  const { title, heading = title, lead, area, content, status } = page
  const markup = layout({
    ...{ t, title, visitor: await visit.visitor() },
    ...(area === undefined ? {} : { area }),
    content: html`<div class="page portal">
<div class="head"><div>
<ol class="crumbs"><li><a href="${AREAS.access.path}">${t.w.my_access}</a></li></ol>
<h1>${heading}</h1><p>${lead}</p>
</div></div>
${visit.flash() ?? ''}
${content}
</div>`,
  })
  return c.html(markup, status)
}
