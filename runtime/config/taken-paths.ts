/**
 * First path segments that are served in addition to the connectors, including future ones of the core
 * interface.
 */
export const RESERVED_PATHS: readonly string[] = [
  ...['.well-known', 'access', 'assets', 'console', 'inbox', 'sign-in', 'sign-out'],
  ...['access_policies', 'access_reviews', 'accounts', 'activity_logs', 'activity_records', 'apps'],
  ...[
    'appstore',
    'art',
    'associations',
    'break_glass',
    'delegations',
    'docs',
    'expenses',
    'findings',
    'groups',
    'healthz',
    'identity_events',
    'info',
  ],
  ...[
    'inline_webhooks',
    'integrations',
    'licences',
    'lifecycle-management',
    'metrics',
    'operator',
    'readyz',
    'schemas',
    'scim',
    'scim_tokens',
    'separation_of_duties',
    'settings',
  ],
  ...['tasks', 'users', 'webhooks'],
]
