import { expect, test } from 'vitest'
import { logoOf, MAX_LOGO_BYTES } from '../../../runtime/connectors/registry/logo.ts'

const files = (name: string, bytes: number) => new Map([[name, Buffer.alloc(bytes, 'x')]])

test.each([
  ['logo.svg', 'data:image/svg+xml;base64,eHg='],
  ['logo.png', 'data:image/png;base64,eHg='],
])('%s is told as a data: URL', (logo, url) => {
  expect(logoOf({ logo }, { files: files(logo, 2) })).toEqual({ ok: true, url })
})

test('a manifest may have none', () => {
  expect(logoOf({}, { files: new Map() })).toEqual({ ok: true, url: null })
})

test('has 64 KiB at most, and must be there', () => {
  const judge = (bytes: number) => logoOf({ logo: 'a.svg' }, { files: files('a.svg', bytes) })
  expect(judge(MAX_LOGO_BYTES).ok).toBe(true)
  expect(judge(MAX_LOGO_BYTES + 1)).toEqual({ ok: false, finding: 'logo: larger than 64 KiB' })
  expect(logoOf({ logo: 'a.svg' }, { files: new Map() })).toMatchObject({
    finding: 'logo: there is no a.svg in the folder',
  })
})

const OPEN = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
const judged = (svg: string | Buffer) =>
  logoOf({ logo: 'a.svg' }, { files: new Map([['a.svg', Buffer.from(svg)]]) })

test.each([
  ['a script', `${OPEN}><script>alert(1)</script></svg>`, '<script>'],
  [
    'a script by a prefix',
    `${OPEN} xmlns:s="http://www.w3.org/2000/svg"><s:script/></svg>`,
    '<s:script>',
  ],
  ['an event handler', `${OPEN} onload="alert(1)"/>`, 'onload='],
  ['HTML', `${OPEN}><foreignObject><b/></foreignObject></svg>`, '<foreignObject>'],
  [
    'HTML by its namespace',
    `${OPEN}><h:img xmlns:h="http://www.w3.org/1999/xhtml"/></svg>`,
    'xmlns:h=',
  ],
  ['a link that runs', `${OPEN}><a xlink:href="&#x6a;avascript:alert(1)"/></svg>`, 'javascript:'],
  [
    'a picture from elsewhere',
    `${OPEN}><image href="https://t.example/p.png"/></svg>`,
    'https://t.example',
  ],
  ['an SVG in it', `${OPEN}><use href="data:image/svg+xml,&lt;svg/>"/></svg>`, 'svg+xml'],
  [
    'an animated link',
    `${OPEN}><set attributeName="xlink:href" to="javascript:x"/></svg>`,
    'attributeName=',
  ],
  ['a style from elsewhere', `${OPEN}><style>@import "//t.example"</style></svg>`, '@import'],
  [
    'a style from elsewhere in CDATA',
    `${OPEN}><style><![CDATA[a{fill:url(//t.example)}]]></style></svg>`,
    'url(',
  ],
  [
    'a style in pieces',
    `${OPEN}><style>@imp<!-- -->ort<![CDATA[ "//t.example"]]></style></svg>`,
    '@import',
  ],
  [
    'a style that hides what it loads',
    `${OPEN}><style>a{fill:\\75rl(//t.example)}</style></svg>`,
    '\\',
  ],
  ['a style attribute', `${OPEN} style="fill:url('https://t.example')"/>`, 'url('],
  ['a style sheet', `<?xml-stylesheet href="//t.example"?>${OPEN}/>`, 'xml-stylesheet'],
  ['entities', `<!DOCTYPE svg [<!ENTITY x "<script/>">]>${OPEN}>&x;</svg>`, 'DOCTYPE'],
  ['another encoding', `<?xml version="1.0" encoding="utf-16"?>${OPEN}/>`, 'UTF-8'],
  ['bytes of another encoding', Buffer.from(`${OPEN}><script/></svg>`, 'utf16le'), 'read from'],
  ['bytes that are no UTF-8', Buffer.from([0x3c, 0xff]), 'UTF-8'],
  ['a comment that hides its end', `${OPEN}><!-- <a title="--><script/>"/></svg>`, '<script>'],
  ['what is no XML', `${OPEN}><script`, 'read from'],
])('an SVG with %s is no logo', (_, svg, words) => {
  const verdict = judged(svg)
  expect(verdict).toMatchObject({
    finding: expect.stringMatching(/^logo: a\.svg is no still picture: /),
  })
  expect(verdict).toMatchObject({ finding: expect.stringContaining(words) })
})

test.each([
  [
    'as an editor saves it',
    `\uFEFF<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<!-- Made by an editor; on = off > on -->
${OPEN} xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" version='1.1'
  ><metadata>once = twice, on="x"</metadata><style type="text/css"><![CDATA[.a > .b{fill:url(#g)}]]></style>
<defs><linearGradient id="g"/></defs><use xlink:href="#g" inkscape:label="a > b"/><rect style="fill:url( '#g' )"/></svg>
`,
  ],
  ['with a picture in it', `${OPEN}><image href="data:image/png;base64,iVBORw0KGgo="/></svg>`],
])('an SVG %s is one', (_, svg) => {
  expect(judged(svg)).toMatchObject({ ok: true })
})

test('an SVG that is hard to read is judged at once', () => {
  for (const part of [
    '<a ',
    '<!--',
    '<a b="c" ',
    ' b=',
    'url( ',
    '&#x6a',
    '<a b="url( ',
    '<?x ',
    '<!DOCTYPE "',
  ])
    expect(typeof judged(part.repeat(Math.floor(MAX_LOGO_BYTES / part.length))).ok).toBe('boolean')
})

test('what an SVG loads is named without the space around it, however much there is', () => {
  const svg = `${OPEN}><style>a{fill:url(${' '.repeat(60_000)}//t.example)}</style></svg>`
  expect(judged(svg)).toMatchObject({ finding: expect.stringContaining('"url( //t.example"') })
})
