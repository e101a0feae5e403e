<?php
/** Installs a WordPress into an empty database and fills it; prints its version. */
$folder = getenv('KEYWAY_WP');
(new mysqli('localhost', 'root', '', '', 0, $folder . '/s'))->query('CREATE DATABASE wordpress');
$_SERVER += ['HTTP_HOST' => '127.0.0.1', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/'];
define('WP_INSTALLING', true);
require $folder . '/site/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

/** Creates a user; users with the same number always have the same password. */
function made(string $login, string $password, array $roles, string $application = ''): WP_User
{
    $id = wp_insert_user([
        'user_login' => $login, 'user_pass' => $password, 'user_email' => "$login@example.com", 'role' => '',
        'first_name' => ucfirst($login), 'last_name' => 'Example', 'display_name' => ucfirst($login) . ' Example',
    ]);
    if (is_wp_error($id)) {
        throw new Exception($id->get_error_message());
    }
    $user = new WP_User($id);
    array_map([$user, 'add_role'], $roles);
    if ($application !== '') {
        $plain = preg_replace('/[^a-z\d]/i', '', $application);
        update_user_meta($id, '_application_passwords', [[
            'uuid' => wp_generate_uuid4(), 'app_id' => '', 'name' => 'Keyway', 'password' => wp_hash_password($plain),
            'created' => time(), 'last_used' => null, 'last_ip' => null,
        ]]);
    }
    return $user;
}

ob_start();
wp_install('Keyway tests', 'admin', 'admin@example.com', false, '', 'admin-secret-1');
ob_end_clean();
update_option('permalink_structure', '/%postname%/');
update_network_option(get_main_network_id(), 'using_application_passwords', 1);
add_role('shop_manager', 'Shop manager', ['read' => true, 'edit_posts' => true]);
add_role('proofreader', 'Proofreader', ['read' => true]);
made('keyway', 'keyway-secret-1', ['administrator'], 'abcd EFGH ijkl MNOP qrst UVWX');
for ($k = 1; $k <= 150; $k++) {
    $roles = $k % 25 === 0 ? [] : array_merge([$k % 2 === 0 ? 'subscriber' : 'author'], $k % 10 === 0 ? ['editor'] : []);
    $user = made(sprintf('user%03d', $k), sprintf('pw-%03d-long', $k), $roles, $k === 1 ? 'AAAA BBBB CCCC DDDD EEEE FFFF' : '');
    if ($k === 3) {
        $user->add_cap('export');
    }
    if ($k === 7) {
        $user->add_role('shop_manager');
    }
    if ($k === 1) {
        foreach (['First', 'Second'] as $title) {
            wp_insert_post(['post_title' => $title, 'post_content' => 'Text', 'post_status' => 'publish', 'post_author' => $user->ID]);
        }
    }
}
echo $wp_version;
