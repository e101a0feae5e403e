import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'

/** Reads the manifest of a folder of this repository. */
export function manifestOf(folder: string): Manifest {
  const file = new URL(`../../../${folder}/connector.json`, import.meta.url)
  return v.parse(Manifest, JSON.parse(readFileSync(file, 'utf8')))
}

/** A manifest with everything that the documents show, and one credential. */
export const rich: Manifest = v.parse(Manifest, {
  id: 'acme',
  version: '1.4.0',
  runtime: '^1.0.0',
  name: 'Acme',
  description: 'Acme’s people',
  vendor_domain: 'acme.example',
  categories: ['COLLABORATION'],
  authentication_schema: {
    kind: 'oauth_client_credentials',
    fields: { scopes: { title: 'Rights', help: 'What may be done', default: ['users:read'] } },
  },
  settings: {
    base_url: { type: 'string', format: 'url', required: true, title: 'Address', help: 'Of Acme' },
    region: { type: 'string', enum: ['eu', 'us'], default: 'eu' },
    team: { type: 'string', pattern: '[a-z]+|main' },
    odd: { type: 'string', pattern: '(?i)acme' },
    passphrase: { type: 'string', secret: true },
    retries: { type: 'integer', min: 1, max: 9, default: 3 },
    guests: { type: 'boolean' },
  },
  oauth: {
    token_url: 'https://acme.example/token',
    scopes: { list_accounts: 'users:read' },
    flow: 'CLIENT_CREDENTIALS',
    capabilities: { refresh_access_token: false },
  },
  capabilities: {
    validate_credentials: {},
    list_accounts: {},
    create_account: {
      request_fields: { department: { type: 'string', required: true, title: 'Department' } },
      response_fields: { department: { type: 'string' } },
    },
  },
  resource_types: [{ type_id: 'TEAM', type_label: 'Team' }],
  entitlement_types: [
    { type_id: 'ROLE', type_label: 'Role', resource_type_id: '', min: 0 },
    { type_id: 'SEAT', type_label: 'Seat', resource_type_id: 'TEAM', min: 1, max: 1 },
  ],
})

/** A manifest with several credentials, one of them optional and obtained by OAuth. */
export const several: Manifest = v.parse(Manifest, {
  id: 'multi',
  version: '0.1.0',
  runtime: '^1.0.0',
  credentials: [
    { id: 'api', kind: 'token', title: 'API token' },
    { id: 'admin', kind: 'basic' },
    {
      id: 'scim',
      kind: 'oauth',
      description: 'For provisioning',
      optional: true,
      oauth: { token_url: 'https://acme.example/token', pkce: true },
    },
  ],
  capabilities: { validate_credentials: {} },
})
