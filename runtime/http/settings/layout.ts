/** Where the settings pages are. */
export const TOKENS_PATH = '/settings/api-tokens'
export const SIGN_IN_PATH = '/settings/sign-in'
