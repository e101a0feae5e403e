/** Style of the page of evidence: on screens, in dark mode, and on paper. */
export const EVIDENCE_STYLE = `:root{color-scheme:light dark}
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;padding:0 1rem;max-width:75rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin-top:2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt,td::before{color:color-mix(in srgb,CanvasText 70%,Canvas)}dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:.85rem}
th,td{border-bottom:1px solid color-mix(in srgb,CanvasText 25%,transparent);padding:.3rem .5rem;text-align:left;vertical-align:top;overflow-wrap:break-word}
.long{overflow-wrap:anywhere}
@media(max-width:40rem){dl{display:block}dd{margin:0 0 .5rem}table,tbody,tr,td{display:block}thead{display:none}td{border:0;padding:.1rem 0}td{overflow-wrap:anywhere}td::before{content:attr(data-head) ": "}tr{border-bottom:1px solid;padding:.5rem 0}}
@media print{body{margin:0;max-width:none;font-size:10pt}thead{display:table-header-group}tr{break-inside:avoid}h2{break-after:avoid}}`
