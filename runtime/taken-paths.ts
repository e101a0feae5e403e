/** First segments of what is served beside the connectors, and of what the core interface will have too. */
export const TAKEN: readonly string[] = [
  ...['.well-known', 'access', 'assets', 'console', 'inbox', 'sign-in', 'sign-out'],
  ...['access_policies', 'access_reviews', 'accounts', 'activity_logs', 'activity_records', 'apps'],
  ...[
    'appstore',
    'art',
    'associations',
    'delegations',
    'docs',
    'findings',
    'groups',
    'healthz',
    'identity_events',
    'info',
  ],
  ...[
    'inline_webhooks',
    'integrations',
    'lifecycle-management',
    'metrics',
    'operator',
    'readyz',
    'schemas',
    'separation_of_duties',
    'settings',
  ],
  ...['tasks', 'users', 'webhooks'],
]
