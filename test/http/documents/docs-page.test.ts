import { expect, test } from 'vitest'
import { connectorDocument } from '../../../runtime/http/documents/app-document.ts'
import { DOCS_STYLE, docsPage } from '../../../runtime/http/documents/docs-page.ts'
import { operationsOf } from '../../../runtime/http/documents/document.ts'
import { connectorInterfaceDocument } from '../../../runtime/http/documents/openapi.ts'
import { rich } from './manifests.ts'

const document = connectorInterfaceDocument({ connectorsPath: '/connectors' })
const page = docsPage(document)

test('shows every operation with its path, and links to it', () => {
  for (const { path, operation } of operationsOf(document)) {
    const { operationId } = operation
    expect(page).toContain(`<article id="${operationId}">`)
    expect(page).toContain(`href="#${operationId}"`)
    expect(page).toContain(`<code>${path}</code>`)
  }
})

test('has a target for every link within the page, and no duplicate ids', () => {
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
  expect(ids).toEqual([...new Set(ids)])
  expect(ids).toEqual(expect.arrayContaining([...new Set(links)]))
})

test('uses no scripts, inline styles or external resources', () => {
  expect(page).not.toMatch(/<script|<style| style=| on\w+=|(?:src|href)="(?:https?:)?\/\//i)
  expect(DOCS_STYLE).not.toMatch(/@import|url\(/)
})

test('shows a sample request, and marks secrets', () => {
  expect(page).toContain('curl http://localhost:8080/connectors/acme/list_accounts')
  expect(page).toContain('<span class="tag write">secret</span>')
})

test('escapes texts of connectors', () => {
  const evil = '</code><script>alert(1)</script>"\'><img src=x onerror=alert(1)>`<b>`'
  const hostile = {
    ...rich,
    name: evil,
    description: evil,
    settings: { base_url: { type: 'string', required: true, help: evil, title: evil } },
    capabilities: {
      create_account: { request_fields: { x: { type: 'string', enum: [evil], help: evil } } },
    },
  } as const
  const shown = docsPage(connectorDocument(hostile as never, { connectorsPath: '/connectors' }))
  expect(shown).toContain('&lt;script&gt;alert(1)')
  expect(shown).not.toMatch(/<script|<img|<b>/)
})
