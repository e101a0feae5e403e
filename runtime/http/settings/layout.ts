/** SETTINGS_PAGES: settings pages with their own routes. The others are rows of `pages/table.ts`. */
export const SETTINGS_PAGES = {
  way_in: { path: '/settings/sign-in', shows: 'the ways to sign in' },
  api_tokens: { path: '/settings/api-tokens', shows: 'the API tokens of the person' },
} as const satisfies Record<string, { path: string; shows: string }>

/** Paths of these pages. */
export const TOKENS_PATH = SETTINGS_PAGES.api_tokens.path
export const SIGN_IN_PATH = SETTINGS_PAGES.way_in.path
