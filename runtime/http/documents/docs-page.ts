/**
 * The API reference: an OpenAPI document as one HTML page for people. It is rendered here, works without
 * scripts and loads nothing from other hosts. Everything from the document is escaped, because names and
 * descriptions come from third parties.
 */
import { html } from 'hono/html'
import { atOnce, type Steps } from '../../bounded/slices.ts'
import type { JsonSchema } from '../schemas/tidy.ts'
import {
  proseMarkup,
  type References,
  refName,
  type SchemaMarkup,
  schemaMarkup,
} from './docs-schema.ts'
import { topMarkup } from './docs-top.ts'
import {
  type OpenApiDocument,
  type OpenApiResponse,
  type Operation,
  operationsOf,
  type PathMethod,
} from './document.ts'

export { DOCS_STYLE } from './docs-style.ts'

/** Number of references to a schema above which it is linked to instead of repeated. */
const REPEATED_AT_MOST = 8

type Entry = { path: string; method: PathMethod; operation: Operation }

/** Renders the page of /docs/api. Its style sheet is DOCS_STYLE, expected at /docs.css. */
export const docsPage = (document: OpenApiDocument): string => atOnce(docsPageSteps(document))

/** Renders the page in steps, because it takes 60 ms at once. */
export function* docsPageSteps(document: OpenApiDocument): Steps<string> {
  const references = yield* referenceSteps(document)
  const entries = operationsOf(document)
  const sections = document.tags
    .map((tag) => ({
      tag,
      own: entries.filter(({ operation }) => operation.tags.includes(tag.name)),
    }))
    .filter(({ own }) => own.length > 0)
  const { info, components } = document
  const articles = new Map<Entry, SchemaMarkup>()
  for (const entry of entries) {
    articles.set(entry, operationMarkup(entry, references))
    yield
  }
  const schemas: SchemaMarkup[] = []
  for (const [name, schema] of Object.entries(components.schemas)) {
    if (isListed(name)) schemas.push(schemaArticle(name, schema, references))
    yield
  }
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}: API reference</title>
<link rel="stylesheet" href="/docs.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${topMarkup()}
<div class="layout">
<nav class="operations" aria-label="Operations">
${sections.map(
  ({ tag, own }) => html`<h2>${tag.name}</h2>
<ul>${own.map(
    ({ operation }) =>
      html`<li><a href="#${operation.operationId}">${operation.operationId}</a></li>`,
  )}</ul>`,
)}
<h2>Schemas</h2>
<ul>${Object.keys(components.schemas)
    .filter(isListed)
    .map((name) => html`<li><a href="#schema-${name}">${name}</a></li>`)}</ul>
</nav>
<main id="content">
<h1>${info.title}</h1>
<p class="lead">${info.description ?? ''} Version ${info.version}. As data: <a href="/openapi.json">openapi.json</a>.</p>
${sections.map(
  ({ tag, own }) => html`<section aria-label="${tag.name}">
<h2>${tag.name}</h2>
<p class="lead">${tag.description}</p>
${own.map((entry) => articles.get(entry) ?? '')}
</section>`,
)}
<section aria-label="Schemas">
<h2>Schemas</h2>
${schemas}
</section>
</main>
</div>
</body>
</html>
`
  return String(page)
}

/** Reports whether a schema is listed. Envelopes are already shown with their operation. */
const isListed = (name: string): boolean =>
  name === 'ErrorResponse' || !/(?:Request|Response)$/.test(name)

function schemaArticle(name: string, schema: JsonSchema, references: References): SchemaMarkup {
  return html`<article id="schema-${name}">
<h3>${name}</h3>
${schema['description'] === undefined ? '' : html`<p>${proseMarkup(schema['description'])}</p>`}
${Array.isArray(schema['enum']) ? html`<p><code>${schema['enum'].join(' | ')}</code></p>` : ''}
${schemaMarkup(schema, references)}
</article>`
}

function* referenceSteps(document: OpenApiDocument): Steps<References> {
  const { schemas } = document.components
  const text = JSON.stringify(document)
  const counts = new Map<string, number>()
  for (const name of Object.keys(schemas)) {
    counts.set(name, text.split(`"#/components/schemas/${name}"`).length - 1)
    yield
  }
  return {
    find: (ref) => schemas[refName(ref)] ?? null,
    inPlace: (name) => (counts.get(name) ?? 0) <= REPEATED_AT_MOST,
    marksRequired: true,
  }
}

function operationMarkup({ path, method, operation }: Entry, references: References): SchemaMarkup {
  const { operationId, summary, description, requestBody, responses, security } = operation
  const body = requestBody?.content['application/json']
  const level = operation['x-capability-level']
  const access = accessOf(security)
  return html`<article id="${operationId}">
<h3>${operationId}</h3>
<p class="route"><span class="tag ${method}">${method.toUpperCase()}</span><code>${path}</code>${level ? html`<span class="tag ${level}">${level}</span>` : ''}${access ? html`<span class="tag open">${access}</span>` : ''}</p>
<p>${proseMarkup(summary)}</p>
${description === undefined ? '' : html`<p class="note">${proseMarkup(description)}</p>`}
${body ? html`<details><summary>Request</summary>${schemaMarkup(body.schema, references)}</details>` : ''}
${Object.entries(responses).map(([status, response]) => responseMarkup(status, response, references))}
<details><summary>Example</summary>
<pre><code>${curl(path, method, body?.example, security)}</code></pre></details>
</article>`
}

function accessOf(security: Operation['security']): string | null {
  const needed = security ?? []
  if (needed.length === 0) return null
  if (needed.some((one) => 'scimToken' in one)) return 'SCIM token'
  return needed.some((one) => Object.keys(one).length === 0) ? 'token if set' : 'admin token'
}

/** Renders a response: a success with its schema, a shared failure by its status alone. */
function responseMarkup(
  status: string,
  response: OpenApiResponse | { $ref: string },
  references: References,
): SchemaMarkup | string {
  if ('$ref' in response) return ''
  const schema = response.content?.['application/json']?.schema
  if (schema === undefined)
    return html`<p class="note">${status}: ${proseMarkup(response.description)}</p>`
  const choices = schema.anyOf
  const [success = schema] = choices ?? []
  const isLinked = choices !== undefined
  return html`<details><summary>Response ${status}</summary>
<p class="note">${proseMarkup(response.description)}${isLinked ? html` (<a href="#schema-ErrorResponse">ErrorResponse</a>)` : ''}</p>
${schemaMarkup(success, { ...references, marksRequired: false })}</details>`
}

function curl(
  path: string,
  method: PathMethod,
  example: unknown,
  security: Operation['security'],
): string {
  const address = `http://localhost:8080${path.replace('{connector_id}', 'acme')}`
  const access = accessOf(security)
  const token =
    access === 'admin token' || access === 'SCIM token'
      ? [`  -H 'authorization: Bearer ${access === 'SCIM token' ? 'lss' : 'lsk'}_your-token'`]
      : []
  const body =
    method === 'post' && example !== undefined
      ? [
          `  -H 'content-type: application/json'`,
          `  -d '${JSON.stringify(example, null, 2).replaceAll("'", `'\\''`)}'`,
        ]
      : []
  const start =
    method === 'post' && body.length === 0 ? `curl -X POST ${address}` : `curl ${address}`
  return [start, ...token, ...body].join(' \\\n')
}
