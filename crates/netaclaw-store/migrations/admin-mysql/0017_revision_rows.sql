INSERT IGNORE INTO netaclaw_admin_revision (area, revision) VALUES ('configuration', 1), ('accounts', 1);
