#!/usr/bin/env bash
# emulate: stateful in-memory emulators of GitHub (PORT), Okta (PORT+1), Slack (PORT+2) and Microsoft Entra (PORT+3).
# All state is in memory; restarting resets it. Needs Node 24 (installed into DIR when the one on PATH is older).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); V=$D/data
stop() { pid_stop "$V/server.pid"; }
show() { jq -n --argjson p "$(cat "$V/port")" '("http://127.0.0.1:") as $h | {system:"emulate",redirectUri:"http://127.0.0.1:9999/callback",
  github:{baseUrl:($h+"\($p)"),auth:{type:"token",header:"Authorization: Bearer",token:"gh-admin-token"},oauth:{authorizationUrl:($h+"\($p)/login/oauth/authorize"),tokenUrl:($h+"\($p)/login/oauth/access_token"),clientId:"Iv1.connector",clientSecret:"github-secret"},seeded:"org acme with 251 members and 2 repositories; outsider is no member"},
  okta:{baseUrl:($h+"\($p+1)/api/v1"),auth:{type:"token",header:"Authorization: SSWS",token:"gh-admin-token"},oauth:{tokenUrl:($h+"\($p+1)/oauth2/v1/token"),authorizationUrl:($h+"\($p+1)/oauth2/v1/authorize"),clientId:"okta-connector",clientSecret:"okta-secret"},seeded:"250 users, groups 00g_eng 00g_sup, apps 0oa_crm 0oa_wiki"},
  slack:{baseUrl:($h+"\($p+2)/api"),auth:{type:"token",header:"Authorization: Bearer",token:"xoxb-connector"},others:[{token:"xoxb-limited",note:"scope team:read only: missing_scope"}],oauth:{authorizationUrl:($h+"\($p+2)/oauth/v2/authorize"),tokenUrl:($h+"\($p+2)/api/oauth.v2.access"),clientId:"1111.2222",clientSecret:"slack-secret"},seeded:"250 users, 3 channels"},
  microsoft:{baseUrl:($h+"\($p+3)/v1.0"),oauth:{authorizationUrl:($h+"\($p+3)/oauth2/v2.0/authorize"),tokenUrl:($h+"\($p+3)/oauth2/v2.0/token"),clientId:"ms-connector",clientSecret:"ms-secret"},seeded:"250 users"}}'; }
case $cmd in stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid" && curl -sf -o /dev/null "http://127.0.0.1:$(cat "$V/port")/zen"; then show; exit 0; fi
stop; for p in "$P" $((P+1)) $((P+2)) $((P+3)); do port_free "$p"; done
N=$(need_node "$D" 24); npm_install "$D/app" emulate@0.12.2
mkdir -p "$V"; echo "$P" > "$V/port"
jq -n --argjson p "$P" '[range(1;251)|("00\(.)"|.[-3:])] as $u | "http://127.0.0.1:9999/callback" as $cb | "http://127.0.0.1:" as $h | {
  tokens:{"gh-admin-token":{login:"owner",scopes:["repo","user","admin:org"]}},
  github:{baseUrl:($h+"\($p)"),users:([{login:"owner",name:"Owner",email:"owner@example.com"}]+[$u[]|{login:"user\(.)",name:"User \(.)",email:"user\(.)@example.com"}]+[{login:"outsider",name:"Out Sider"}]),
    repos:[{owner:"acme",name:"api",private:true,auto_init:false},{owner:"acme",name:"web",auto_init:false}],
    orgs:[{login:"acme",name:"Acme",members:([{login:"owner",role:"admin"}]+[$u[]|{login:"user\(.)"}])}],
    oauth_apps:[{client_id:"Iv1.connector",client_secret:"github-secret",name:"connector",redirect_uris:[$cb]}]},
  okta:{baseUrl:($h+"\($p+1)"),users:[$u[]|{login:"user\(.)@example.com",email:"user\(.)@example.com",first_name:"User",last_name:.}],
    groups:[{name:"Engineering",description:"",type:"OKTA_GROUP",okta_id:"00g_eng"},{name:"Support",description:"",type:"OKTA_GROUP",okta_id:"00g_sup"}],
    apps:[{name:"crm",label:"CRM",okta_id:"0oa_crm",sign_on_mode:"SAML_2_0"},{name:"wiki",label:"Wiki",okta_id:"0oa_wiki",sign_on_mode:"BOOKMARK"}],
    oauth_clients:[{client_id:"okta-connector",client_secret:"okta-secret",name:"connector",redirect_uris:[$cb],auth_server_id:"org"}]},
  slack:{baseUrl:($h+"\($p+2)"),team:{name:"Acme",domain:"acme"},users:[$u[]|{name:"user\(.)",real_name:"User \(.)",email:"user\(.)@example.com"}],
    channels:[{name:"general"},{name:"ops"},{name:"sales"}],
    oauth_apps:[{client_id:"1111.2222",client_secret:"slack-secret",app_id:"A1",name:"connector",redirect_uris:[$cb],scopes:["users:read","users:read.email","channels:read"],bot_name:"connector"}],bots:[{name:"connector"}],
    tokens:[{token:"xoxb-connector",user:"user001",scopes:["users:read","users:read.email","channels:read","channels:manage","channels:write","channels:join","groups:read","team:read"]},{token:"xoxb-limited",user:"user002",scopes:["team:read"]}],strict_scopes:true},
  microsoft:{baseUrl:($h+"\($p+3)"),users:[$u[]|{email:"user\(.)@example.com",name:"User \(.)"}],
    oauth_clients:[{client_id:"ms-connector",client_secret:"ms-secret",name:"connector",redirect_uris:[$cb]}]}}' > "$V/seed.json"
(cd "$V" && exec setsid "$N" "$D/app/node_modules/emulate/dist/index.js" start --port "$P" --service github,okta,slack,microsoft --seed "$V/seed.json" > "$V/server.log" 2>&1 < /dev/null) & pid_save "$V/server.pid" $!
for k in 0 1 2 3; do wait_http "http://127.0.0.1:$((P+k))/" "$V/server.pid" 30 "$V/server.log"; done
show
