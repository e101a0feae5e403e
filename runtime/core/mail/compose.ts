/**
 * Composes a message as text and HTML. Pure: its content comes from the word catalogue and from data that is
 * passed in.
 */

import { isKeyOf } from '../../contract/schema/keys.ts'
import type { Language } from '../../words/languages.ts'
import { MAIL_FRAME, mailText } from '../../words/mail.ts'
import { wordsIn } from '../../words/say.ts'
import type { Letter } from '../kernel/context/post.ts'
import type { MailContent } from './contents.ts'

type Around = {
  to: string
  /** Name of the recipient. */
  name: string
  language: Language
  /** Origin of the pages, without a trailing slash. */
  origin: string
  messageId: string
}

/** Path of the page on which a person chooses their mail. */
const SETTINGS_PATH = '/settings/personal'

/** Style sheet of all messages. */
const STYLE = `:root { color-scheme: light dark }
body { margin: 0; padding: 1.5rem; overflow-wrap: anywhere; font: 16px/1.5 system-ui, sans-serif; color: #1b2430; background: #f4f6f9 }
main { max-width: 36rem; margin: 0 auto; padding: 1.5rem; background: #fff; border: 1px solid #d5dbe3; border-radius: 8px }
h1, h2 { margin: 0 0 .6rem; font-size: 1.2rem; line-height: 1.3 }
section + section { margin-top: 1.5rem; padding-top: 1.2rem; border-top: 1px solid #d5dbe3 }
p { margin: 0 0 .8rem }
a { color: #2353c9 }
.go { display: inline-block; padding: .5rem 1rem; color: #fff; background: #2353c9; border-radius: 6px; text-decoration: none }
footer { max-width: 36rem; margin: 1rem auto 0; font-size: .85rem; color: #55606e }
@media (prefers-color-scheme: dark) {
  body { color: #e4e9f0; background: #12161c }
  main { background: #1a2028; border-color: #333c48 }
  section + section { border-color: #333c48 }
  a { color: #8fb0ff }
  footer { color: #a0acba }
}`

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for HTML. */
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (one) => (isKeyOf(ESCAPES, one) ? ESCAPES[one] : one))

/** Composes one message from one or more mails. */
export function compose(items: readonly MailContent[], around: Around): Letter {
  const { to, name, language, origin, messageId } = around
  const frame = wordsIn(MAIL_FRAME, language)
  const parts = items.map(({ text, matter, path }) => {
    const words = mailText(text, language)
    return {
      title: words.subject(matter),
      lines: words.lines(matter),
      link: `${origin}${path}`,
    }
  })
  const [first] = parts
  const isOne = parts.length === 1 && first !== undefined
  const subject = isOne ? first.title : frame.digest_subject(parts.length)
  const lead = [frame.hello(name), ...(isOne ? [] : [frame.digest_lead])]
  const foot = [frame.by_itself, `${frame.settings}: ${origin}${SETTINGS_PATH}`]

  const text = [
    ...lead,
    ...parts.flatMap(({ title, lines, link }) => [
      ...(isOne ? [] : [`* ${title}`]),
      ...lines,
      `${frame.open}: ${link}`,
    ]),
    '-- ',
    foot.join('\n'),
  ].join('\n\n')

  const section = ({ title, lines, link }: (typeof parts)[number]): string => {
    const level = isOne ? 'h1' : 'h2'
    const said = lines.map((line) => `<p dir="auto">${escaped(line)}</p>`).join('\n')
    return `<section>
<${level} dir="auto">${escaped(title)}</${level}>
${said}
<p><a class="go" href="${escaped(link)}">${escaped(frame.open)}</a></p>
</section>`
  }
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(subject)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${lead.map((line) => `<p dir="auto">${escaped(line)}</p>`).join('\n')}
${parts.map(section).join('\n')}
</main>
<footer>
<p>${escaped(frame.by_itself)}<br><a href="${escaped(origin + SETTINGS_PATH)}">${escaped(frame.settings)}</a></p>
</footer>
</body>
</html>
`
  return { to, subject, text, html, messageId, language }
}
