/** The only style sheet of the pages. Narrow screens come first; rules that depend on the width come last. */
import { BASE_STYLE } from './base.ts'
import { COMPONENTS_STYLE } from './components.ts'
import { CONSOLE_STYLE } from './console.ts'
import { PARTS_STYLE } from './pages.ts'
import { TOKENS_STYLE } from './tokens.ts'

export const STYLE = [TOKENS_STYLE, BASE_STYLE, COMPONENTS_STYLE, PARTS_STYLE, CONSOLE_STYLE].join(
  '',
)
